"""The algebra on Spark DataFrames of integer ids."""
