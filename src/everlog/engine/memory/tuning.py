"""The numbers by which the memory engine chooses between ways that come to the same result; only speed depends on them.

They are read where they are used, as `tuning.NAME`, so that tests can move them. Constants that kernels compile in, and
those that a data structure fixes, are with these.
"""

from __future__ import annotations

# Joins

BINDINGS_PER_BLOCK = 1 << 15
"""A join extends bindings in blocks of so many: 128 KiB for each variable."""

SHARED_DRIVER_ROWS = 1 << 11
"""From this many driving rows on, a join is shared among threads; a thread takes at least this many at a time."""

FEW_TUPLES = 1 << 10
"""Up to so many heads are entered by one call of a kernel: threads, and room by what turns out to be new, pay for more."""

FEW_COUNTED = 16
"""If less than one in so many rows of a table was counted, the room for counts is kept for the next time."""

FEW_PLACES = 8
"""Rules whose literals are of so few tables ask for each whether a set has any of its facts; others ask the set for its
tables, of which an update of fifty shapes has a hundred."""

MOST_WORKERS = 8
"""An engine starts at most so many threads; its tables have a shard for each."""

WAIT_SECONDS = 0.05
"""So long a thread waits for others before it looks for an interrupt: twenty looks a second cost nothing."""

SMALL_SIZE_BITS = 8
"""Sizes with at most so many bits are of one magnitude: any order is quick, and not worth another plan."""

INDEX_ROW_COST = 4.0
"""What entering a row into an index costs, compared with looking at one."""

SOUGHT_ROW_COST = 0.1
"""What it costs to look at a row for a few values in one of its columns, compared with a row that a join follows."""

FEW_FACTS = 16
"""A literal that shares nothing with those before it goes ahead of one that it narrows down, if it has so few facts."""

LASTING_INDEX_SHARE = 16.0
"""An index that a small delta needs serves later deltas, and later calls of the same query, too: the cost of making it is
divided by this. A delta is small if another literal has so many times its facts."""

ESTIMATED_TABLES = 64
"""An atom with a variable for its property or class may match thousands of tables; an order asks so many for sizes."""

CROWDED_KEY = 16
"""Where a key has so many facts on average, as hubs have, and several literals bind the same variable, it is told for each
binding which of them has the fewest facts. To tell takes about as long as to go through a few."""

MANY_BINDINGS = 1 << 10
"""Of so many bindings whose head is bound, and that are to be extended by what the head does not say, those go no further
whose head is known. So `attend` with three friends does not go through the friends of those who come anyway."""

CHEAP_ORDER = 1 << 12
"""An order that begins with a delta, and goes through so few bindings, is not compared with others, which takes longer."""

DELTA_FIRST_RATIO = 2.0
"""A delta goes first unless another order is this many times cheaper: estimates for deltas are too high if anything."""

# Entering facts

COLLECTED_TUPLES = 1 << 18
"""A worker collects so many tuples before they are entered."""

FEW_VALUES = 1 << 9
"""Up to so many values that come from a user, or go to one, are looked at one by one: with its first array Arrow loads
pandas, which takes as long as all the rest of such a little work."""

LONG_RUN = 16
"""Where runs of equal values have so many facts on average, facts are told apart by runs, and not row by row."""

ENTERED_FACTS = 1 << 19
"""So many facts that a user hands over are entered before somebody may give up."""

ABSORBED_TUPLES = 1 << 17
"""So many tuples are entered before somebody may give up, where the rows of known ones have to be found."""

SHARED_TUPLES = 1 << 14
"""From this many tuples on, entering them is shared among threads; sorted tuples are noted to be so."""

FIRST_TUPLES = 1 << 10
"""After so many tuples of a call it shows how many groups they make, and how much room the others need."""

COPIED_ROWS = 1 << 19
"""So many rows are entered into the groups, or copied, before somebody may give up."""

SLOTTED_ROWS = 1 << 16
"""So many rows are entered into the table from tuples to rows before somebody may give up."""

HASH_LOAD = 0.65
"""An open-addressing table is at most so full; beyond, probes walk too far."""

# Finding rows

RUN_MERGE_RATIO = 3
"""A run of an index is merged with an older one unless that is more than this many times larger."""

SOUGHT_SHARE = 1 << 6
"""Tuples of up to one row in so many are searched for among unsorted rows, while these are not in the row slots."""

SOUGHT_SHARE_SORTED = 4
"""Tuples of up to one row in so many are looked up one by one among sorted rows, which need no row slots."""

SEARCHES_PER_TABLE = 24
"""After so many searches through a table all rows get slots: that takes some thirty times as long as one search."""

SOUGHT_ROWS = 1 << 16
LOOKS_BEFORE_INDEX = 4
FOUND_ROW_LOOKS = 16
"""Where few bindings meet a table of so many rows and no index, all rows are looked at, so many times; then an index is
made. To look at ten million takes 10 ms, to index them 300 or more; a row that is found costs as much as so many that are
looked at. With sixteen looks, updates of ten million rows in groups took 62 ms, and 350 with half of them in one; with
four, 15 and 6."""

SCANNED_ROWS = 1 << 9
"""Fewer rows than this are looked at one by one for the values that an atom asks for, whether there is an index or not."""

SCANS_BEFORE_INDEX = 8
"""When the rows of a table have been looked at so often for the values of an atom, an index on a column is made, which
takes about as long."""

COUNTED_ROWS = 128
"""Up to so many rows, the values of a column are counted when somebody asks for their number: a sample takes longer."""

DISTINCT_SAMPLE_ROWS = 1024
"""So many rows tell about how many different values columns without an index have."""

FREQUENCY_SAMPLE_ROWS = 4_096
"""So many rows tell how frequent values are, for the choice of decompositions."""

# Sets of rows

LISTED_ROWS = 4096
"""A span up to this size becomes a list, a larger one dense, when it gets holes."""

LISTED_SHARE = 16
"""Up to one row in so many is listed; where there are more, the mark that they have is all that is kept."""

BITS_FOR_VIEWS = 10
"""So many bits of a table's mask are left to the views of joins; a mere look at a list does without."""

SPARSE_MERGE_SHARE = 8
"""Values added to a sparse annotation are merged with the others when they are one in so many of these."""

# Equal constants

CONSTANT_LOOK_UP_COST = 16
"""To look a constant up in an index takes about as long as to look at so many facts."""

KEY_FACTS_SHARE = 8
"""Fewer facts than one for so many constants are sorted as they are; of more, those whose key no other has go first."""

LOOKS_BEFORE_INDEXES = 3
"""After so many looks at all facts of a table, indexes are made for the next."""

IMAGE_COST = 32
LOOKS_BEFORE_LISTS = 8
"""To find out what a fact is rewritten to takes as long as to look at so many. So facts in other names than those that are
asked about are looked for among all, so many times; then all facts about the class are listed with what they become."""

# Graphs

GRAPH_BYTES = 1 << 28
"""A graph whose rows of bits take up to this many bytes is closed as a whole; nodes of a larger one are visited."""

PAIRS_AT_A_TIME = 1 << 20
"""So many pairs are made, or looked at, before somebody may give up."""

WORDS_AT_A_TIME = 1 << 15
"""So many words of bits are combined at a time: 256 KiB stay in the cache."""

BITS_PER_PAIR = 16
"""One pair in so many bits is taken for what is usual, where work on bits is cut into pieces."""

VISITED_PAIRS = 100_000
"""Up to so many pairs are decided by visits, if they have few sources."""

VISITED_SOURCES_SHARE = 32
"""Up to one source in so many nodes is few: these are visited, and the graph is not closed for them."""

SAMPLED_SOURCES = 16
"""So many sources are visited to tell whether all of them should be, instead of closing the graph."""

VISIT_COST = 4.0
"""What following an edge of a visited node costs, compared with a word of a row of bits. Half a million pairs of 25,000
nodes take 27 ms by visits and 100 ms by bits; 22 million of 10,000 nodes take 2 s and 0.13."""

SEARCHED_SOURCES_SHARE = 8
"""Up to one source in so many nodes is few in the product of a graph with an automaton."""

PAIR_LOOK_UP_COST = 16
"""Looking a pair up takes as long as looking at so many that lie one after the other."""

CLOSED_FACTS = 1 << 20
"""A relation with so many facts or more, that no rule asks about, is kept closed if that takes less room than its facts."""

CLOSED_CLIQUE_FACTS = 1 << 18
"""The same for a symmetric and transitive relation, of which components take next to no room."""

ASKED_CLOSED_FACTS = 1 << 23
"""The same for relations that rules ask about. With 22 million facts, rules that ask for one in thirty took an eighth of
what they take where all are listed, and those that ask for all ends two thirds; with a million, 1.5 times as long."""

ASKED_ENDS_SHARE = 4
"""If bindings of a rule have up to one end in so many of a closed relation, it is asked for the pairs with these; of more,
all pairs are listed, and joined like others."""

CLOSED_BYTES = 1 << 32
"""Up to so many bytes, at the most, rows of bits may take that are kept."""

CLOSED_PAIR_BYTES = 4.0
"""So many bytes for a pair is little: one in a table takes 8, and about as much again to be found."""

CLOSED_AGAIN_SHARE = 4
"""If more than one node in so many leads to what has changed, all rows of bits are made anew: with 10⁹ pairs that takes
2 s, and to look at every row and leave most as they are took 3 s and more."""

# The dictionary

PREPARED_VALUES = 1 << 20
"""So many values of a column are prepared at a time, since that takes room."""

LOOKED_UP_VALUES = 1 << 18
"""So many values are looked up before somebody may give up."""

# Facts of a knowledge base

ROWS_WORTH_COMPACTING = 100_000
"""Up to this many rows nothing is gained by leaving those of facts that are gone out."""

DECODED_FACTS = 1 << 17
"""So many facts become Python values before somebody may give up."""

# Groups

MANY_MEMBERS = 1 << 14
"""From so many members on, groups are numbered, counted and added up by kernels, which take a moment to be loaded."""

GROUPED_ROWS = 1 << 22
"""So many members a thread looks at before somebody may give up."""

GROUP_PLACES = 1 << 16
ROWS_PER_PLACE = 4
"""A group is found by its id, without hashing, if the ids are from a range of so many, or of one for so many members."""

# Best facts

NEAR_WEIGHTS = 4096
"""Integers that are less are small weights: what waits is in as many buckets, and not in a heap."""

SHARED_STEPS = 1 << 17
"""More steps than this are listed by two threads: ten million take 0.1 s then, and 0.2 by one."""

FEW_GROUPS = 1 << 10
RESETTLED_SHARE = 4
"""If more than a few groups, and one in so many, lose their values, all are settled again: that goes without a heap."""

LOOKS_AT_ALL_STEPS = 8
"""The steps that lead to a group are looked for among all, so many times; then all are listed backwards, too. A look at
ten million takes 20 ms, to list them 300."""

SPARSE_GROUPS = 64
"""Arrays with a place for each value are not kept for updates if the dictionary has so many values for each step, and more
than there is room for without a thought."""

UNTHOUGHT_VALUES = 1 << 20
"""So many values take 25 MB in these arrays."""
