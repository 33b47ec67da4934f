"""The Spark engine outside of a local session of our own: on a cluster, over Connect, and from the shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.own_process

SUPPORT = Path(__file__).resolve().parents[1] / "support"


def ran(*command: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_cluster_that_loses_an_executor() -> None:
    assert "are the same" in ran(str(SUPPORT / "on_cluster.py"))


def test_over_connect() -> None:
    assert "agree" in ran(str(SUPPORT / "over_connect.py"), SPARK_REMOTE="local[2]")


def test_from_the_shell(tmp_path: Path) -> None:
    """Sessions that a command starts know what Spark did for each round."""
    (tmp_path / "rules.dlog").write_text(
        "reach(?x, ?y) :- edge(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edge(?y, ?z) ."
    )
    # So many edges that rules are not applied on the driver.
    pairs = [f"{number},{number + 1}\n" for number in range(10_001, 15_001, 2)]
    (tmp_path / "edge.csv").write_text("1,2\n2,3\n" + "".join(pairs))
    said = ran(
        *("-m", "everlog.cli", "run", str(tmp_path / "rules.dlog"), "--facts", str(tmp_path / "edge.csv")),
        *(
            "--engine",
            "spark",
            "--modules",
            "off",
            "--out",
            str(tmp_path / "out"),
            "--stats",
            str(tmp_path / "stats.json"),
        ),
    )
    assert "Spark: " in said
    assert (tmp_path / "out" / "reach.csv").read_text() == "".join(sorted(["1,2\n", "1,3\n", "2,3\n", *pairs]))
    stats = json.loads((tmp_path / "stats.json").read_text())
    assert stats["engine"] == "spark" and stats["facts"] == {"explicit": 2_502, "total": 5_005}
    spark = stats["spark"]
    assert [(one["stratum"], one["round"], one["facts"]) for one in spark["rounds"]] == [
        (1, 0, 2_502),
        (2, 0, 2_502),
        (2, 1, 1),
        (2, 2, 0),
    ]
    assert sum(one["round"] > 0 for one in spark["rounds"]) == stats["rounds"]
    assert sum(one["jobs"] for one in spark["rounds"]) <= spark["jobs"]
    assert spark["on_driver"] < len(spark["rounds"])
    assert spark["tasks"] >= spark["jobs"] > 0 and all(one["seconds"] >= 0 for one in spark["rounds"])
