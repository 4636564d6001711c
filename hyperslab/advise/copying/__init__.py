"""A file copied into another layout in bounded memory, compared, whole or not at all."""
