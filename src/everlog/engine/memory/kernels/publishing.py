"""What one thread has written is there for others before they are shown where: a fence between the two."""

from __future__ import annotations

from typing import Any, Final

from numba.core import types
from numba.extending import intrinsic


def _publish(typing: Any) -> Any:
    """Lets nothing that is written before it be seen after what is written behind it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        builder.fence("release")

    return types.void(), generate


publish: Final[Any] = intrinsic(_publish)
"""`publish()` in a kernel."""
