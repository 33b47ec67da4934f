"""OWL 2 ontologies become programs.

    files → reading.py → Ontology (structure.py) → clauses.py: form (163) → profiles.py: L, U or RL → Datalog rules

RDF syntaxes are read by `mapping.py`, which names what it cannot read; OWL/XML and the functional syntax by
py-horned-owl (`horned.py`).
"""
