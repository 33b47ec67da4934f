"""What expressions of rules compute: operators and functions of SPARQL 1.1 over columns of values."""
