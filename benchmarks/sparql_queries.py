"""Queries about universities: LUBM's fourteen, and ten that analyse: long joins, groups, paths, what is absent."""

from __future__ import annotations

from typing import Final

PROLOGUE: Final = (
    "PREFIX ub: <http://swat.cse.lehigh.edu/onto/univ-bench.owl#> "
    "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
)
_DEPARTMENT: Final = "<http://www.Department0.University0.edu>"
_UNIVERSITY: Final = "<http://www.University0.edu>"
_COURSE: Final = "<http://www.Department0.University0.edu/GraduateCourse0>"

LUBM: Final = {
    "lubm1": f"SELECT ?x {{ ?x a ub:GraduateStudent . ?x ub:takesCourse {_COURSE} }}",
    "lubm2": "SELECT ?x ?y ?z { ?x a ub:GraduateStudent . ?y a ub:University . ?z a ub:Department . "
    "?x ub:memberOf ?z . ?z ub:subOrganizationOf ?y . ?x ub:undergraduateDegreeFrom ?y }",
    "lubm3": "SELECT ?x { ?x a ub:Publication . "
    "?x ub:publicationAuthor <http://www.Department0.University0.edu/AssistantProfessor0> }",
    "lubm4": f"SELECT ?x ?n ?m ?t {{ ?x a ub:Professor . ?x ub:worksFor {_DEPARTMENT} . ?x ub:name ?n . "
    "?x ub:emailAddress ?m . ?x ub:telephone ?t }",
    "lubm5": f"SELECT ?x {{ ?x a ub:Person . ?x ub:memberOf {_DEPARTMENT} }}",
    "lubm6": "SELECT ?x { ?x a ub:Student }",
    "lubm7": "SELECT ?x ?y { ?x a ub:Student . ?y a ub:Course . ?x ub:takesCourse ?y . "
    "<http://www.Department0.University0.edu/AssociateProfessor0> ub:teacherOf ?y }",
    "lubm8": f"SELECT ?x ?y ?m {{ ?x a ub:Student . ?y a ub:Department . ?x ub:memberOf ?y . "
    f"?y ub:subOrganizationOf {_UNIVERSITY} . ?x ub:emailAddress ?m }}",
    "lubm9": "SELECT ?x ?y ?z { ?x a ub:Student . ?y a ub:Faculty . ?z a ub:Course . ?x ub:advisor ?y . "
    "?y ub:teacherOf ?z . ?x ub:takesCourse ?z }",
    "lubm10": f"SELECT ?x {{ ?x a ub:Student . ?x ub:takesCourse {_COURSE} }}",
    "lubm11": f"SELECT ?x {{ ?x a ub:ResearchGroup . ?x ub:subOrganizationOf {_UNIVERSITY} }}",
    "lubm12": f"SELECT ?x ?y {{ ?x a ub:Chair . ?y a ub:Department . ?x ub:worksFor ?y . "
    f"?y ub:subOrganizationOf {_UNIVERSITY} }}",
    "lubm13": f"SELECT ?x {{ ?x a ub:Person . {_UNIVERSITY} ub:hasAlumnus ?x }}",
    "lubm14": "SELECT ?x { ?x a ub:UndergraduateStudent }",
}

ANALYTICAL: Final = {
    "classes": "SELECT ?c (COUNT(*) AS ?n) { ?x a ?c } GROUP BY ?c ORDER BY DESC(?n)",
    "properties": "SELECT ?p (COUNT(*) AS ?n) (COUNT(DISTINCT ?o) AS ?d) { ?s ?p ?o } GROUP BY ?p",
    "load": "SELECT ?d (COUNT(DISTINCT ?s) AS ?n) (COUNT(?c) AS ?m) "
    "{ ?s ub:memberOf ?d . ?s a ub:Student . ?s ub:takesCourse ?c . ?t ub:teacherOf ?c . ?t ub:worksFor ?d } GROUP BY ?d",
    "colleagues": "SELECT (COUNT(*) AS ?n) { ?x ub:worksFor ?d . ?y ub:worksFor ?d . ?x ub:teacherOf ?c . "
    "?s ub:takesCourse ?c . ?s ub:advisor ?y FILTER(?x != ?y) }",
    "unadvised": "SELECT (COUNT(*) AS ?n) { ?x a ub:GraduateStudent FILTER NOT EXISTS "
    "{ ?x ub:advisor ?y . ?y ub:teacherOf ?c . ?x ub:takesCourse ?c } }",
    "assistants": "SELECT ?x ?c { ?x a ub:GraduateStudent OPTIONAL { ?x ub:teachingAssistantOf ?c } "
    "FILTER(STRENDS(STR(?x), '7')) }",
    "organisation": f"SELECT ?x {{ ?x ub:subOrganizationOf+ {_UNIVERSITY} }}",
    "members": f"SELECT (COUNT(*) AS ?n) {{ ?x (ub:memberOf|ub:worksFor)/ub:subOrganizationOf* {_UNIVERSITY} }}",
    "busiest": "SELECT ?t (COUNT(*) AS ?n) { ?t ub:teacherOf ?c . ?s ub:takesCourse ?c . ?s a ub:UndergraduateStudent } "
    "GROUP BY ?t HAVING (COUNT(*) > 60) ORDER BY DESC(?n) ?t LIMIT 20",
    "papers": "SELECT (MAX(?n) AS ?most) (AVG(?n) AS ?mean) "
    "{ { SELECT ?a (COUNT(?p) AS ?n) { ?p ub:publicationAuthor ?a . ?a a ub:Professor } GROUP BY ?a } }",
}
