"""A user's own file: tried in other layouts, and what follows from it."""
