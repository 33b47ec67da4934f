"""Facts as files for others, by ids: tasks decode, sort and write parts, and this process joins them in order."""
