"""`hyperslab advise`: what a file's reads cost, and which layout or remedy makes them cheaper."""
