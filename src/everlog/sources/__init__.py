"""Files and tables become facts, in Spark jobs."""
