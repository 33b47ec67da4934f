"""Bodies of rules taken apart: which, into what, and what that would cost."""
