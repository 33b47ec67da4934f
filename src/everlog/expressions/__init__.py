"""What expressions of rules compute: operators and functions of SPARQL 1.1 over columns of values.

What SPARQL leaves open is as pyoxigraph has it, which tests compare with: arithmetic with dates, times and durations, an
order of the strings of one language, and that values of two known kinds are not equal. Where pyoxigraph loses something or
departs from SPARQL, this room does not follow:

* A term is what was given: `STR("01"^^xsd:integer)` is `"01"`, `DATATYPE("1"^^xsd:byte)` is `xsd:byte`, and a byte above
  127 is no number.
* Booleans have an order; NaN is neither smaller nor larger than anything, rather than an error; a term without an order
  is not `<=` itself.
* A string with a language counts as true unless it is empty, and a malformed number or boolean as false.
* A product of decimals is cut after 18 digits, as a quotient is, and fails only if it is too large.
* A double becomes the shortest decimal that denotes it, and a string by XPath's rule: `1.0E7`, but `100000`.
* Patterns are XPath's (`regular_expressions.py`), and `REPLACE` fails for one that matches the empty string.
* `(?date - ?time) + ?time` is computed from left to right.
"""
