"""A user's own file: measured in other layouts, advised on, and rewritten in bounded memory."""
