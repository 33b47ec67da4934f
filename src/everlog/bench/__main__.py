"""`python -m everlog.bench`."""

from __future__ import annotations

import sys

from everlog.bench.command import main

sys.exit(main())
