"""The papers' experiments: what they measure, at sizes that fit the machine, and a page that shows it."""
