"""Graphs and orders in memory, as modules ask for them."""
