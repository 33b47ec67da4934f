"""The numbers by which the Spark engine chooses between ways that come to the same result; only speed depends on them.

They are read where they are used, as `tuning.NAME`, so that tests can move them.
"""

from __future__ import annotations

DRIVER_FACTS = 12_000_000
"""Sets of up to this many facts that come in are on the driver, and with what follows from them up to twice as many:
operations on them happen there, without a job. A triple takes 32 bytes, and up to 20 more for each way in which it is
looked up: 0.6 gigabytes for so many of them, each looked up in one way."""

FETCHED_FACTS = 20_000
"""Up to this many facts come from Spark to the driver where it has what they meet, and as many are asked for there."""

DRIVER_BINDINGS = 5_000_000
"""Bindings that lead to more than this are extended half by half, so that these are all that the driver has of them."""

DRIVER_LOOKS = 60_000_000
"""Rules that lead to more bindings than this, in all and on the way, are left to Spark."""

DRIVER_MATCHES = 1_000
DRIVER_SAMPLE = 256
"""Where a literal has more matches than bindings by so many, the driver looks whether another one has fewer, by so many of
the bindings: rules over triples join relations of which nobody knows the sizes. The rules of OWL 2 RL over 5,000 triples
of LUBM took 5 s of the processor with it, and led to more than `DRIVER_BINDINGS` without."""

DRIVER_TERMS = 12_000_000
"""A dictionary of up to this many terms is on the driver, too: 35 bytes each, and those of their texts, which numbers do
not need. Of a larger one it remembers as many constants that it compared or computed with. With a million of 1.4 million
terms allowed, each update of groups of a million rows started jobs to look terms up, and took 5 s and more where it takes
1.4 now."""

TERMS_AT_A_TIME = 2_000_000
"""So many terms of this process are looked up, and written to a file, at a time: these are 100 MB of text, or 200."""

MANY_TIMES = 8
"""A set on the driver that is so many times as large as another is many: its hash table is asked about the facts of the
other, and a view of it that bindings, so much fewer, meet is not computed for them. To delete 1,000 of 400,000 rows takes
0.06 s then, and took 0.9."""

DENSE_ROWS = 1_000
DENSE_LEADS = 128
"""A column leads to so many rows and more by its ids, without a hash table (`dense_index.py`), if a sample of it has so
many ids or more, and the other columns that are asked for have few values. LUBM over ten million triples took 3.2 to 3.5 s
of the processor with hash tables alone, and 2.7 with these; a first deletion 0.9 to 1.0 s, and 0.4."""

KIND_ROWS = 1 << 16
"""A hash table of so many rows and more by columns that have few values is made of their kinds, which threads tell
apart (`row_kinds.py`)."""

SHARE_ROWS = 1 << 17
MOST_SHARES = 8
"""Of long loops over rows of the driver each thread has so many rows at least, and there are at most so many threads."""

GONE_SHARE = 16
"""Facts that go from a run on the driver are noted beside it until they are one in so many: all others would be copied, and
their hash tables made anew."""

OVERLAY_SHARE = 8
"""New values lie over those of an annotation on the driver until they are one in so many of them."""

GRAPH_PAIRS = 20_000_000
"""The paths and components of a graph are found on the driver, by the loops of the memory engine, if it has no more than
`DRIVER_FACTS` edges, wherever these are: rounds of jobs would take a hundred times as long. Paths that connect more pairs
than this are left to Spark: these are 320 MB."""

ANSWERS = 500_000
"""Runs in Spark are asked for the facts that few bindings meet if they have up to this many: 16 MB of triples."""

REMEMBERED_ANSWERS = 2_000_000
"""More questions and answers than this are forgotten, for each run and way in which it is asked."""

ASKED_BEFORE_SORTED = 1
"""A run in Spark that so many jobs have asked for a few facts is copied to sorted files, which are asked without a job.
That takes as long as three jobs or four; a first update asks eight times. With 3, the first deletion of 1,000 of ten
million triples of LUBM took 23 s, and 18 s with 1, where starting takes 91 to 96."""

SORTED_BLOCK_ROWS = 2_000_000
"""So many rows of a sorted file are in one block: a task holds these, 64 MB of triples, and sorts them."""

BROADCAST_LOOK_UP_FACTS = 20_000
"""Up to this many facts are broadcast to rows that are looked up among them."""

BROADCAST_JOIN_FACTS = 200_000
"""Bindings that come from up to this many facts are broadcast to what they are matched with; what else is small enough to
be looked at by one task has up to as many rows."""

HASHED_ROWS = 4_000_000
"""Of more rows no hash table is made to look them up among facts."""

HUB_SAMPLE_FACTS = 20_000
"""About so many facts of a run are looked at to find hubs."""

HUB_SHARE = 0.01
"""A value that this part of a run has is a hub: a join by it would give all of them to one task."""

SHARES_PER_PARTITION = 4
"""The rows of a hub are dealt out to so many shares for each partition: where a share goes is decided by its hash, and of
few shares many may go to one place."""

FACTS_PER_PARTITION = 50_000
"""For this many facts there is a partition, but never more of them than the session has: a task costs about the same
however little it does."""

FULL_PARTITION_FACTS = 4_000_000
"""While partitions have up to this many facts, there are as many as the session has; a hash table of more does not fit."""

TASKS_SHARE = 16
"""For each partition that the session has, so many tasks read what a round joins, or one for each partition where these are
more. With a task for each partition of each run that a rule meets, LUBM over ten million triples took 228 s in 128
partitions, and 139 with this and with tasks that sort what they write (`session.py`); in eight it takes 95."""

HEAP_FACTS = 2_000_000
"""Up to this many facts, of all sets together, Java has as objects; more are on disk, and come as columns."""

INTERPRETED_FACTS = 200_000
"""While an engine has up to this many facts, Spark generates no code for its jobs: compiling takes longer."""

RUNS_BEFORE_MERGE = 8
"""From this many runs on, a set that grows merges some: joins with a set have an input for each of its runs."""

CHAIN_CHANGE_SHARE = 8
"""What has changed of a graph is followed from where it lies if it is up to one fact in so many; else all is found anew."""

SETTLED_FACTS = 12_000_000
"""Best facts are settled on the driver if the steps that lead to them are up to this many, of which three columns are
290 MB. Of others a round is a few jobs, and all steps are met in each."""

FETCHED_IDS = 200_000
"""Up to this many ids are fetched from Spark directly, without files."""

ASKED_DIGITS = 2_000
"""Spark is asked about an estimate of a size that may have more digits than this, since asking takes time, too."""

SETTLED_DIGITS = 500
"""A run whose estimated size has more digits than this is settled: Spark looks how large it is."""

LISTED_IDS = 30_000
"""Up to this many ids are handed to Spark as they are, without a file."""

FETCHED_MATCHES = 200_000
"""Up to so many matches of a query's pattern are fetched, and what is above it is computed on the driver: a job for each
operator would take longer. More stay DataFrames."""
