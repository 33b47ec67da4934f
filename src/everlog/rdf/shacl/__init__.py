"""SHACL Core: shapes graphs as rules, and reports of what does not conform."""
