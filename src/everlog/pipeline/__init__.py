"""The data pipeline on Spark: sessions, sources, dictionary, store, publishing."""
