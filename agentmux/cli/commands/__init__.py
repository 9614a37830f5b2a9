"""The functions of the commands that typer parses; a docstring is the command's help.

They turn arguments into calls of `app`, where the work is done, and print the results.
"""
