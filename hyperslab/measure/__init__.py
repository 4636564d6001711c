"""Time cases fairly: fresh processes, interleaved blocks, verified cold caches, counters."""
