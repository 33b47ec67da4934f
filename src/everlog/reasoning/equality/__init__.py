"""The algorithms of *Equality*: rewriting equal constants, and B/F≈."""
