"""The command `hyperslab advise`: its options, what it prints, and how advice is applied."""
