"""`python -m everlog.cli`."""

from __future__ import annotations

from everlog.cli.main import main

main()
