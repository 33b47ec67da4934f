"""The command as a process of its own: what a terminal sees, what a pipe sees, no Java, and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import REACH, written

pytestmark = pytest.mark.own_process

EVERLOG = [sys.executable, "-m", "everlog"]
FEW_ON_DRIVER = """
from everlog.cli.main import main
from everlog.engine.spark import tuning

tuning.DRIVER_FACTS = 2_000
main()
"""
SMALL = ["--master", "local[1]", "--memory", "1g"]


def test_a_machine_without_java_and_a_pipe_that_gets_results_and_nothing_else(tmp_path: Path) -> None:
    """On Spark, in a session of the command's own, which knows what Spark did for each round."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for program in Path(folder).iterdir():
            if "java" not in program.name and not (tools / program.name).is_symlink():
                (tools / program.name).symlink_to(program)
    assert shutil.which("java", path=tools) is None
    environment = {key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "SPARK_REMOTE")}
    rules = written(tmp_path / "reach.dlog", REACH + "edge(a, b) . edge(b, c) . edge(?x, ?y) :- p(?x, ?y) .")
    # More edges than the driver takes here.
    pairs = [f"{number},{number + 1}\n" for number in range(10_001, 15_001, 2)]
    written(tmp_path / "facts" / "p.csv", "".join(pairs) + '"5",x\n')
    written(tmp_path / "facts" / "a.nt", '<http://a> <http://b> "\\u0041" .\n')
    written(tmp_path / "facts" / "b.ttl", "<http://c> <http://d> <http://e> .\n")
    asked = ["--engine", "spark", "--modules", "off", "--stats", tmp_path / "stats.json", *SMALL]
    command = [sys.executable, "-c", FEW_ON_DRIVER]
    ended = subprocess.run(
        [*command, "run", rules, "--facts", tmp_path / "facts", "--out", tmp_path / "out", *asked],
        env={**environment, "PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == "", "Spark's own chatter is hidden"
    first, second = ended.stdout.splitlines()
    assert first.startswith("materialised: 7,510 facts (2,505 explicit, 5,005 derived) in ")
    assert second.startswith("Spark: ")
    reached = sorted(['"5",x\n', "a,b\n", "a,c\n", "b,c\n", *pairs])
    assert (tmp_path / "out" / "reach.csv").read_text() == "".join(reached)
    triples = '<http://a> <http://b> "A" .\n<http://c> <http://d> <http://e> .\n'
    assert (tmp_path / "out" / "triples.nt").read_text() == triples
    stats = json.loads((tmp_path / "stats.json").read_text())
    spark = stats["spark"]
    assert stats["engine"] == "spark"
    assert sum(one["facts"] for one in spark["rounds"]) == stats["facts"]["total"]
    assert [one["facts"] for one in spark["rounds"]][-2:] == [1, 0]
    assert sum(one["round"] > 0 for one in spark["rounds"]) == stats["rounds"]
    assert sum(one["jobs"] for one in spark["rounds"]) <= spark["jobs"]
    assert spark["on_driver"] < len(spark["rounds"])
    assert spark["tasks"] >= spark["jobs"] > 0 and all(one["seconds"] >= 0 for one in spark["rounds"])


def test_ctrl_c_ends_with_a_message_and_leaves_nothing(tmp_path: Path) -> None:
    program = written(tmp_path / "reach.dlog", REACH)
    written(tmp_path / "facts" / "edge.csv", "".join(f"{n},{n + 1}\n" for n in range(20_000)))
    master, slave = pty.openpty()
    command = [*EVERLOG, "init", tmp_path / "s", program, "--facts", tmp_path / "facts", *SMALL]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env={**os.environ, "TERM": "xterm"})
    os.close(slave)
    screen, asked = b"", False
    while True:
        try:
            more = os.read(master, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        screen += more
        if not asked and b"stratum" in screen:
            asked = True
            process.send_signal(signal.SIGINT)
    os.close(master)
    said = screen.decode(errors="replace")
    assert process.wait() == 130, said
    assert asked and "starting Spark" in said and "reading facts" in said
    assert said.count("everlog: interrupted; nothing was changed") == 1
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts", "reach.dlog"]
