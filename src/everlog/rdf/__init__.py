"""RDF in and out."""
