"""What a benchmark found: numbers, tables, sentences, a picture."""
