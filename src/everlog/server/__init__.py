"""A store over HTTP: SPARQL's protocol, goals, updates, changes, and numbers to watch. It needs `everlog[server]`."""
