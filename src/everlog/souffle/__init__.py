"""Soufflé's language, as far as it is Datalog, to Everlog's. It knows the language alone."""
