"""Rules and queries in memory: the order of joins, their evaluation, and where the bindings go."""
