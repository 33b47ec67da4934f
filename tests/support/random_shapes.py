"""Random shapes graphs and data for them, as Turtle. Every shape has a name, and none refers to itself.

Orders are asked for between numbers alone (`:m` and `:k`): of what cannot be compared pySHACL says otherwise than SHACL
does.
"""

from __future__ import annotations

import random

PREFIXES = """@prefix : <http://ex.org/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
NODES = [f":n{number}" for number in range(5)]
PROPERTIES = [":p", ":q", ":r"]
CLASSES = [":A", ":B", ":C"]
LITERALS = [
    "1",
    "2",
    "7",
    "1.5",
    '"a"',
    '"ab"',
    '"abc"',
    '"ab"@en',
    '"ba"@en-GB',
    '"ab"@de',
    '"x"^^xsd:integer',
    '"300"^^xsd:byte',
    '"2024-02-29"^^xsd:date',
    '"2023-02-28"^^xsd:date',
    "true",
]


def random_triples(chosen: random.Random, number: int) -> list[str]:
    """Lines of Turtle."""
    return [_triple(chosen) for _ in range(number)]


def _triple(chosen: random.Random) -> str:
    kind = chosen.random()
    if kind < 0.25:
        return f"{chosen.choice(NODES)} a {chosen.choice(CLASSES)} ."
    if kind < 0.3:
        return f"{chosen.choice(CLASSES)} rdfs:subClassOf {chosen.choice(CLASSES)} ."
    if kind < 0.45:
        return f"{chosen.choice(NODES)} {chosen.choice([':m', ':k'])} {chosen.choice(['1', '2', '1.5', '2.5', '-4'])} ."
    target = chosen.choice(NODES) if chosen.random() < 0.5 else chosen.choice(LITERALS)
    return f"{chosen.choice(NODES)} {chosen.choice(PROPERTIES)} {target} ."


def random_shapes(chosen: random.Random) -> str:
    """Some shapes; each may refer to those after it."""
    number = chosen.randrange(2, 7)
    kinds = [chosen.random() < 0.6 for _ in range(number)]
    kinds[0] = False
    names = [f":S{place}" for place in range(number)]
    texts = []
    for place, name in enumerate(names):
        later = names[place + 1 :]
        properties = [other for other, is_property in zip(later, kinds[place + 1 :], strict=True) if is_property]
        has_path, ordered = kinds[place], kinds[place] and chosen.random() < 0.3
        lines = [f"{name} a {'sh:PropertyShape' if has_path else 'sh:NodeShape'}"]
        if has_path:
            lines.append(f"sh:path {':m' if ordered else _path(chosen, 2)}")
        if place == 0 or chosen.random() < 0.3:
            lines.append(_target(chosen))
        if chosen.random() < 0.1:
            lines.append(f"sh:severity {chosen.choice(['sh:Warning', 'sh:Info'])}")
        if chosen.random() < 0.07:
            lines.append("sh:deactivated true")
        seen: set[str] = set()
        for _ in range(chosen.randrange(1, 4)):
            plain = [other for other in later if other not in properties]
            wanted = _order(chosen) if ordered else _constraint(chosen, has_path, later, properties, plain)
            if wanted.split()[0] not in seen:
                seen.add(wanted.split()[0])
                lines.append(wanted)
        texts.append(" ;\n    ".join(lines) + " .")
    return PREFIXES + "\n".join(texts)


def _target(chosen: random.Random) -> str:
    return chosen.choice(
        [
            f"sh:targetClass {chosen.choice(CLASSES)}",
            f"sh:targetNode {chosen.choice(NODES)} , {chosen.choice(LITERALS)}",
            f"sh:targetSubjectsOf {chosen.choice(PROPERTIES)}",
            f"sh:targetObjectsOf {chosen.choice(PROPERTIES)}",
        ]
    )


def _order(chosen: random.Random) -> str:
    limit = f"sh:{chosen.choice(['min', 'max'])}{chosen.choice(['Inclusive', 'Exclusive'])}"
    return chosen.choice(
        [f"{limit} {chosen.choice(['2', '1.5', '1.0e0'])}", "sh:lessThan :k", "sh:lessThanOrEquals :k"]
    )


def _path(chosen: random.Random, depth: int) -> str:
    if not depth or chosen.random() < 0.5:
        return chosen.choice(PROPERTIES)
    kind = chosen.choice(["inverse", "zeroOrMore", "oneOrMore", "zeroOrOne", "sequence", "alternative"])
    inner = _path(chosen, 0 if kind == "inverse" else depth - 1)  # pySHACL turns a sequence over in the wrong way
    if kind in ("sequence", "alternative"):
        members = f"( {inner} {_path(chosen, depth - 1)} )"
        return members if kind == "sequence" else f"[ sh:alternativePath {members} ]"
    return f"[ sh:{kind}Path {inner} ]"


def _constraint(
    chosen: random.Random, has_path: bool, later: list[str], properties: list[str], plain: list[str]
) -> str:
    number = chosen.randrange(0, 3)
    values = [
        f"sh:class {chosen.choice(CLASSES)}",
        f"sh:datatype {chosen.choice(['xsd:integer', 'xsd:string', 'xsd:date', 'xsd:byte', 'xsd:boolean'])}",
        f"sh:nodeKind sh:{chosen.choice(['IRI', 'Literal', 'BlankNodeOrIRI', 'IRIOrLiteral', 'BlankNode'])}",
        f"sh:{chosen.choice(['minLength', 'maxLength'])} {number}",
        chosen.choice(['sh:pattern "^a"', 'sh:pattern "B$" ; sh:flags "i"', 'sh:pattern "n[0-2]"']),
        'sh:languageIn ( "en" "fr" )',
        f"sh:in ( {chosen.choice(NODES)} {chosen.choice(NODES)} {chosen.choice(LITERALS)} )",
        f"sh:hasValue {chosen.choice([*NODES, *LITERALS])}",
        f"sh:{chosen.choice(['equals', 'disjoint'])} {chosen.choice(PROPERTIES)}",
    ]
    of_paths = [
        f"sh:minCount {number}",
        f"sh:maxCount {number}",
        "sh:uniqueLang true",
    ]
    choices = [*values, *(of_paths if has_path else [])]
    if plain:
        choices += [f"sh:node {chosen.choice(plain)}"] * 2
    if later:
        other, another = chosen.choice(later), chosen.choice(later)
        choices += [
            f"sh:not {other}",
            f"sh:and ( {other} {another} )",
            f"sh:or ( {other} {another} )",
            f"sh:xone ( {other} {another} )",
        ]
        if has_path:
            disjoint = chosen.choice(["", " ; sh:qualifiedValueShapesDisjoint true"])
            count = chosen.choice([f"sh:qualifiedMinCount {number}", f"sh:qualifiedMaxCount {number}"])
            choices += [f"sh:qualifiedValueShape {other} ; {count}{disjoint}"] * 2
    if properties:
        choices += [f"sh:property {' , '.join({chosen.choice(properties), chosen.choice(properties)})}"] * 4
        if not has_path:
            chosen_one = chosen.choice(properties)
            choices.append(
                f"sh:closed true ; sh:ignoredProperties ( {chosen.choice(PROPERTIES)} ) ; sh:property {chosen_one}"
            )
    return chosen.choice(choices)
