"""Records of machines beside each other: checked, made small and added to `results/`."""
