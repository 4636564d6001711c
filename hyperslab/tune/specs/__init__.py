"""What layouts and reads are asked for, and what they mean for a file."""
