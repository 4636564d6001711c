"""How good advice is: what was advised first, among all candidates measured."""
