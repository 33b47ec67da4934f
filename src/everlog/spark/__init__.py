"""Spark itself: the session and its Java, what it throws, what it did, and how its jobs are given up."""
