"""Facts in memory: tables of ids, sets of their rows, and annotations."""
