"""The steps of a delivery: the commit, and the merge, push or pull request after it."""
