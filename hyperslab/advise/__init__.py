"""What layout suits a file of one's own: measured, compared, advised."""
