"""The command `everlog`. Starting it imports neither pyspark nor numba; commands import what they need when they run."""
