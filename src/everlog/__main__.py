"""`python -m everlog`."""

from __future__ import annotations

from everlog.cli.main import main

main()
