"""The page on the cost model: files that no calibration has seen, figures and words."""
