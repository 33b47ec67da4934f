"""`everlog stream`: files that arrive in folders, as updates of a store."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlog.cli import options
from everlog.errors import EverlogError
from everlog.sources.column_mapping import parse_mapping

if TYPE_CHECKING:
    from everlog.streaming.batch_metrics import BatchMetrics
    from everlog.streaming.stream import Stream
    from everlog.streaming.stream_sources import Source

_LOOK = 1.0
"""Seconds between two looks at what a stream has done."""


def stream(
    store: options.StoreArgument,
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PREDICATE=FOLDER",
            help="A folder in which files with facts of a predicate arrive, perhaps with the columns that are arguments, "
            "as in edge=arriving/:from,to. May be repeated.",
        ),
    ] = None,
    delete_source: Annotated[
        list[str] | None,
        typer.Option(metavar="PREDICATE=FOLDER", help="The same for facts that are all to be deleted."),
    ] = None,
    op: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column that says insert or delete.", show_default="op, if there is one"
        ),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column by which rows of a batch are in order.",
            show_default="as files and lines come",
        ),
    ] = None,
    feed: Annotated[str, typer.Option(help="Whose names these columns have: plain or delta.")] = "plain",
    header: options.HeaderOption = False,
    nulls: options.NullsOption = "error",
    max_files: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most N files of a folder in a batch.")
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            metavar="SECONDS",
            help="Time from the beginning of a batch to that of the next.",
            show_default="none",
        ),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="End when everything is in the store that is there now.")
    ] = False,
    changes: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder for what each version changes, as JSON lines.")
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Keep about N versions, and those that are read.", show_default="all"),
    ] = None,
    remember: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Rows that come late, by --order, do not count for N batches after."),
    ] = 0,
    metrics: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A line of JSON about each batch.", show_default="batches.jsonl of the checkpoint"
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where Spark keeps how far it has come.", show_default="STORE.stream"),
    ] = None,
    quarantine: Annotated[
        Path | None, typer.Option(metavar="DIR", help="For malformed rows.", show_default="STORE.quarantine")
    ] = None,
    wait: options.WaitOption = 60.0,
    engine: options.StoredEngineOption = None,
    memory: options.MemoryOption = None,
    master: options.MasterOption = None,
    conf: options.ConfOption = None,
    verbose: options.VerboseOption = False,
) -> None:
    """Keep a store fresh: files that arrive in folders are updates, and each batch of them is a version.

    It goes on until it is ended (Ctrl-C), and begins where it was when it is started again.
    """
    options.reasoning_options(engine=engine or "auto")
    if not source and (op is not None or feed != "plain"):
        raise EverlogError("--op and --feed are about rows that come and go, of a --source; of --delete-source all go")
    given: dict[str, Any] = {"op": op, "order": order, "feed": feed, "header": header, "nulls": nulls}
    limits = {} if max_files is None else {"maxFilesPerTrigger": str(max_files)}
    sources = [_source("--source", text, options=limits, **given) for text in source or ()]
    alike = {"order": order, "header": header, "nulls": nulls, "options": limits, "deletes": True}
    sources += [_source("--delete-source", text, **alike) for text in delete_source or ()]
    if not sources:
        raise EverlogError("nothing to do: say where changes come from, such as --source edge=arriving/")
    settings = options.session_conf(conf, memory)
    options.check_file("--metrics", metrics)
    from everlog.store.versions import Store
    from everlog.streaming.stream import stream as stream_into

    opened = Store.open(store)
    spark = options.started_session(master, settings, verbose, [], engine or opened.manifest.options.get("engine"))
    running = stream_into(
        store,
        sources,
        spark=spark,
        every=every,
        once=once,
        checkpoint=checkpoint,
        quarantine=quarantine,
        changes=changes,
        metrics=metrics,
        keep=keep,
        remember=remember,
        engine=engine,
        memory=memory,
        wait=wait,
    )
    _follow(running)
    typer.echo(f"the store {store} is at version {Store.open(store).manifest.version}")


def _source(option: str, text: str, **how: Any) -> Source:
    from everlog.streaming.stream_sources import Source

    mapped = parse_mapping(text, option)
    return Source(mapped.predicate, mapped.table, mapped.columns, **how)


def _follow(running: Stream) -> None:
    """Says what batches bring, until the stream ends or somebody asks for that.

    An interrupt is noted and not raised: PySpark's own handler may raise it where Python ignores it.
    """
    asked, said = Event(), -1
    with _noted(asked):
        while True:
            if asked.is_set():
                running.stop()
            ended = running.wait(_LOOK)
            for batch in running.batches:
                if batch.batch > said:
                    said = batch.batch
                    typer.echo(_line(batch))
            if ended:
                return


@contextmanager
def _noted(asked: Event) -> Iterator[None]:
    """Has interrupts and requests to end noted."""
    before = {}
    with suppress(ValueError):  # outside the main thread it is not ours to decide
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, lambda *_: asked.set())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _line(batch: BatchMetrics) -> str:
    counts = batch.counts
    malformed = f", {counts['malformed']:,} malformed" if counts["malformed"] else ""
    return (
        f"batch {batch.batch}: version {batch.version}, {counts['rows']:,} rows{malformed}, "
        f"{counts['facts_added']:,} facts came and {counts['facts_deleted']:,} went, {batch.total:.2f} s"
    )
