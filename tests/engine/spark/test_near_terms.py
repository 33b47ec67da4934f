"""Terms of equal values are found in this process as comparisons define them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from everlog.datalog.comparing import holds
from everlog.datalog.ntriples import read_term
from everlog.engine.spark.near_terms import NearTerms

XSD = "http://www.w3.org/2001/XMLSchema#"
FORMS = {
    "integer": "1 01 +1 -7 9007199254740993 9223372036854775807 9223372036854775808 0 -0",
    "decimal": "1.0 1. 0.5 .50 -7.00 9007199254740993.0 0.0 -.0",
    "double": "1.0E0 1 5.0E-1 NaN INF -0.0E0 9.007199254740992E15 9.223372036854775807E18 1e400",
    "float": "1 NaN +INF 0.5 -7e0",
    "boolean": "true 1 false 0",
    "dateTime": "2020-01-01T00:00:00Z 2020-01-01T00:00:00 2019-12-31T24:00:00 2020-01-01T01:00:00+01:00",
    "date": "2020-01-01 2020-01-01Z",
    "time": "00:00:00 24:00:00 10:00:00Z",
    "byte": "1 001 300 x",
    "token": "1 a",
}


def test_twins_are_equal_terms(tmp_path: Path) -> None:
    terms = [f'"{form}"^^<{XSD}{name}>' for name, forms in FORMS.items() for form in forms.split()]
    terms += ['"1"', '"a"', "<http://e/1>", "_:b1", '"a"@en', '"A"@en']
    values = {id: read_term(term) for id, term in enumerate(terms, start=3)}
    path = tmp_path / "terms.parquet"
    pq.write_table(pa.table({"id": list(values), "term": terms}), path)
    near = NearTerms(by_label=False)
    near.read([path])
    least = {id: min(other for other, one in values.items() if holds("=", value, one)) for id, value in values.items()}
    # A term that is written in its one form has one id, whatever it was given as.
    known = {near.find(pa.array([term], pa.large_string()))[0] for term in terms}
    found = near.twins()
    for id in known:
        wanted = min(one for one in known if least[one] == least[id])
        assert found.get(id, id) == wanted, values[id]
