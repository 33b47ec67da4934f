"""SPARQL 1.1 queries over facts: text to algebra, and the algebra set at a time over columns of ids."""
