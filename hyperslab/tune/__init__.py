"""What changes a user's own file: its chunks, codec and format, in bounded memory."""
