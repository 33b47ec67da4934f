"""How a command ends: with an exit code and, if something went wrong, one message on standard error.

A mistake of the user exits with 2, a failure with 1, a store that somebody else is writing with 3, a conversion that had to
leave something out with 4, Ctrl-C with 130.
Tracebacks are for `--verbose`.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FrameType
from typing import Any, NoReturn, TypeVar

import typer

from everlog.errors import EverlogError

FAILURE, INCOMPLETE, INTERRUPTED = 1, 4, 130

Command = TypeVar("Command", bound=Callable[..., None])


def guarded(command: Command) -> Command:
    """The command, with every error turned into a message and an exit code."""

    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> None:
        if not options.get("verbose"):
            logging.getLogger().addFilter(_is_not_py4js)
        try:
            command(*arguments, **options)
        except EverlogError as mistake:
            _end(str(mistake), mistake.exit_code, mistake, options)
        except KeyboardInterrupt:
            typer.echo("everlog: interrupted; nothing was changed", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read our output has gone: what is left of it must not fail again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(FAILURE) from None
        except typer.Exit:
            raise
        except MemoryError as failure:
            _end("there is not enough memory; nothing was changed", FAILURE, failure, options)
        except Exception as failure:
            shown = _spoken(failure)
            code = FAILURE if shown is None else shown.exit_code
            _end(str(shown or f"{cause(failure)}; nothing was changed"), code, failure, options)

    return wrapped  # type: ignore[return-value]


def _is_not_py4js(record: logging.LogRecord) -> bool:
    """What py4j logs it raises as well; of an interrupt there would be pages."""
    return f"{os.sep}py4j{os.sep}" not in record.pathname


def _end(message: str, code: int, error: BaseException, options: dict[str, Any]) -> NoReturn:
    if options.get("verbose"):
        traceback.print_exception(error)
    typer.echo(f"everlog: {message}", err=True)
    raise typer.Exit(code) from None


def cause(failure: BaseException) -> str:
    """One line about a failure that is nobody's mistake."""
    text = str(failure)
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return "the disk is full"
    if isinstance(failure, OSError) and failure.strerror:
        return f"{failure.filename}: {failure.strerror}" if failure.filename else failure.strerror
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{type(failure).__name__}: {lines[0][:500] if lines else 'no reason given'} (--verbose shows more)"


def _spoken(failure: Exception) -> EverlogError | None:
    """What Spark threw, in one line; None for anything else."""
    from everlog.spark.failures import as_everlog_error, is_sparks

    return as_everlog_error(failure, "a Spark job failed") if is_sparks(failure) else None


def let_termination_clean_up() -> None:
    """A polite request to end (SIGTERM) unwinds like Ctrl-C, so that temporary folders and locks go."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        with suppress(ValueError):  # outside the main thread it is not ours to decide
            signal.signal(signal.SIGTERM, leave)


def warn(messages: list[str]) -> None:
    """Warnings, each once, on standard error."""
    for message in dict.fromkeys(messages):
        typer.echo(f"everlog: warning: {message}", err=True)
