"""Suites that every implementation of an interface inherits."""
