"""A file that a task writes: there when it is whole, whether or not Spark runs the task again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A place to write to, which becomes the file if the block ends well."""
    handle, name = mkstemp(prefix=".", dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
