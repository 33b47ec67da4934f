"""The knowledge base: a program, an engine and an algorithm tied together, and kept in stores."""
