"""Git for one project: its calls, commits, remotes. Whole work trees are in `adapters/trees`."""
