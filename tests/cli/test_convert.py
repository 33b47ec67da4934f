"""`everlog convert`: a Soufflé program in, rules out, and the command to run them."""

from __future__ import annotations

from pathlib import Path

from everlog.datalog.reader import parse_program
from support.command import done, everlog, written

PATHS = ".decl edge(x: number, y: number)\n.input edge\n.decl path(x: number, y: number)\n.output path\n"


def test_rules_are_printed_or_written_with_the_command_to_run_them(tmp_path: Path) -> None:
    program = written(tmp_path / "paths.dl", PATHS + "path(x, y) :- edge(x, y).\n")
    shown = everlog("convert", program)
    assert shown.code == 0
    assert shown.out.startswith(f"// Converted from paths.dl. To run it:\n// everlog run {tmp_path}/paths.dlog --facts")
    assert len(parse_program(shown.out).rules) == 1
    assert shown.err == f"everlog run {tmp_path}/paths.dlog --facts FACTS --output path --out RESULTS\n"
    assert done("convert", program, "--out", tmp_path / "rules.dlog") == ""
    assert (tmp_path / "rules.dlog").read_text() == shown.out.replace("paths.dlog", "rules.dlog")


def test_what_is_left_out_is_listed_and_makes_the_exit_code_4(tmp_path: Path) -> None:
    program = written(tmp_path / "paths.dl", PATHS + "path(x, y) :- edge(x, y).\npath(x, x + 1) :- edge(x, _).\n")
    ended = everlog("convert", program)
    assert ended.code == 4
    assert ended.err.splitlines()[0] == f"everlog: {program}:6:11: not converted: arithmetic"
    assert len(parse_program(ended.out).rules) == 1


def test_a_text_that_is_no_program_is_a_mistake(tmp_path: Path) -> None:
    program = written(tmp_path / "paths.dl", "path(x, y) :- edge(x, y)\n")
    ended = everlog("convert", program, "--out", tmp_path / "rules.dlog")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"everlog: {program}:2:1: expected '.' at the end of the clause, found the end\n"
    assert not (tmp_path / "rules.dlog").exists()
    assert "no such file" in everlog("convert", tmp_path / "none.dl").err.lower()
