"""What experiments do with files: write, read, and compare with the truth."""
