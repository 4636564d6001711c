"""A user's own file: what is advised for it, and how good advice is."""
