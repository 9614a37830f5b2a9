"""The commit and the steps after it."""
