"""Codecs and layouts that the documents did not know."""
