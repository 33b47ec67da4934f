"""Loops that Numba compiles; those that call each other are in one file."""
