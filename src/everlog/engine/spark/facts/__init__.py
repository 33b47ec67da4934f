"""Facts on Spark: runs of rows, sets and annotations over them, and what is decided by their sizes."""
