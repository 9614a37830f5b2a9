"""The operations behind the commands for users, such as `start`, `resume` and `stop`.

`cli/commands` parses the arguments and prints the results. The operations of `status`, `list` and
`wait`, which only read, are in `views`.
"""
