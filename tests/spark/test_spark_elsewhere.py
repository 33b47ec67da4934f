"""The Spark engine outside of a local session of our own: on a cluster, and over Connect."""

from __future__ import annotations

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


def test_over_connect(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text('"5",x\n', encoding="utf-8")
    (tmp_path / "a.nt").write_text('<http://a> <http://b> "\\u0041" .\n', encoding="utf-8")
    (tmp_path / "b.ttl").write_text("<http://c> <http://d> <http://e> .\n", encoding="utf-8")
    said = ran(str(SUPPORT / "over_connect.py"), str(tmp_path), SPARK_REMOTE="local[2]")
    assert said.splitlines() == [
        """p [('"5"', '"x"')]""",
        """triple [('<http://a>', '<http://b>', '"A"'), ('<http://c>', '<http://d>', '<http://e>')]""",
        "agree",
    ]
