"""The experiments of Lee, Yang and Aydt 2008."""
