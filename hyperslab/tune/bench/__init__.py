"""`hyperslab bench`: a file tried in other layouts, each timed."""
