"""Graphs and orders on Spark, as modules ask for them."""
