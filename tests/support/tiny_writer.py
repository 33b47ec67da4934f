"""A writer of stores that needs no Spark: its files hold a word. Also a command: `tiny_writer.py STORE WORD [wait]`."""

from __future__ import annotations

import sys
from pathlib import Path

from everlog.store.commit import making, writing
from everlog.store.manifest import CURRENT, Layer, Manifest, Part
from everlog.store.versions import Store


def write_word(store: Path, word: str, wait: bool = False) -> None:
    """Adds a word to a store, which is made if need be."""
    with (writing if (store / CURRENT).exists() else making)(store) as writer:
        if wait:
            print("writing", flush=True)
            sys.stdin.read()
        folder = writer.folder("explicit")
        folder.mkdir()
        (folder / "_SUCCESS").touch()
        file = folder / "part.parquet"
        file.write_text(word)
        before = () if writer.before is None else writer.before.explicit
        layer = Layer(added={"word": Part((writer.named(file),), 1)})
        writer.commit(Manifest(writer.version, "", {}, {"word": 1}, explicit=(*before, layer)))


def words(store: Path, version: int | None = None) -> list[str]:
    """The words in a store."""
    opened = Store.open(store, version)
    return [(opened.path / file).read_text() for file in opened.manifest.files.get("explicit/word", [])]


if __name__ == "__main__":
    write_word(Path(sys.argv[1]), sys.argv[2], "wait" in sys.argv[3:])
