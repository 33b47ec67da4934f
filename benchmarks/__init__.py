"""Benchmarks: workloads with a seed, and the same work given to other systems.

A run prepares the facts of one workload in a process of its own, starts each system in a process of its own, compares
what they derived, and only then shows times. `script/bench list` names the workloads. Peers are optional:
one that is not installed has a row that says so.
"""
