"""Whether the files of a version are those that were written: sizes and ends when it is opened, all when it is checked.

The end of a Parquet file says what is where, and has no checksum, as the pages before it have (`parquet_files.py`).
Most files that updates write are not longer than what is looked at.

The checksum is CRC-32, the fastest of the standard library at about 3 GB/s: it is for files that were cut off, mixed up or
badly copied, not for somebody who forges them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from zlib import crc32

from everlog.store.manifest import DamagedStore, Fingerprint, Manifest
from everlog.wording import counted

END: Final = 1 << 16
"""The bytes of a file that are looked at when it is opened, the last ones; another number is another format of stores."""

_BLOCK: Final = 1 << 20
"""Bytes that are read at once."""


def fingerprint(file: Path) -> Fingerprint:
    """The size and the checksums of a file, which is read."""
    size, checksum, block = 0, 0, bytearray(_BLOCK)
    view = memoryview(block)
    with open(file, "rb", buffering=0) as opened:
        while count := opened.readinto(block):
            checksum = crc32(view[:count], checksum)
            size += count
    return Fingerprint(size, f"{checksum:08x}", _end(file, size))


def fingerprints(store: Path, manifest: Manifest, before: Manifest | None) -> dict[str, Fingerprint]:
    """The fingerprints of a version's files; those that are known, or of the version before, are not read again."""
    known = {**({} if before is None else before.fingerprints), **manifest.fingerprints}
    shared = set[str]() if before is None else set(before.all_files())
    return {
        file: known[file] if file in known else fingerprint(store / file)
        for file in manifest.all_files()
        if file in known or file not in shared
    }


def check_files(store: Path, manifest: Manifest) -> None:
    """Raises `DamagedStore` unless all files of a version are there, with the sizes and ends that they had."""
    wrong = [(file, what) for file in manifest.all_files() if (what := wrong_at_a_glance(store, manifest, file))]
    if wrong:
        file, what = wrong[0]
        others = f", and {len(wrong) - 1:,} more of its files are damaged" if len(wrong) > 1 else ""
        raise DamagedStore(store, file, what + others, manifest.version)


def wrong_at_a_glance(store: Path, manifest: Manifest, file: str) -> str:
    """What is wrong with a file as far as its size and its end tell; nothing if the text is empty."""
    expected = manifest.fingerprints.get(file)
    try:
        size = (store / file).stat().st_size
        if expected is None:
            return ""
        if size != expected.size:
            return wrong_size(size, expected)
        return "" if _end(store / file, size) == expected.end else "is not as it was written: its end has changed"
    except (FileNotFoundError, NotADirectoryError):
        return "is missing"
    except OSError as failure:
        return f"cannot be read: {failure.strerror or failure}"


def wrong_size(size: int, expected: Fingerprint) -> str:
    """What is wrong with a file of another size."""
    return f"has {counted(size, 'byte')} instead of {expected.size:,}"


def _end(file: Path, size: int) -> str:
    with open(file, "rb", buffering=0) as opened:
        opened.seek(max(0, size - END))
        return f"{crc32(opened.read(END)):08x}"
