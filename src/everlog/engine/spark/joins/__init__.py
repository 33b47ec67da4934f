"""Rules and queries on Spark: conjunctions as joins, in jobs or on the driver."""
