"""Versions of facts on disk: Parquet files that Spark writes, and manifests that name them."""
