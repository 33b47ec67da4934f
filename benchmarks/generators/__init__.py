"""Data for benchmarks and demonstrations, made by Spark jobs."""
