"""Streams of changes into a store, and out of it, by Spark's Structured Streaming."""
