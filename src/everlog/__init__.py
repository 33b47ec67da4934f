"""Everlog: Datalog whose materialisation stays fresh."""
