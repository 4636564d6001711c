"""Penard et al. 2025: the experiments' cases, figures and sentences."""
