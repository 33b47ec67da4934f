"""Rules that form modules: which there are, and which of them are used."""
