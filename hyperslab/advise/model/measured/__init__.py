"""Reads that are timed: those that the model is fitted to, and those that it is tried on."""
