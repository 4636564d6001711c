"""Records to tables of intervals: the one engine of pages and verdicts."""
