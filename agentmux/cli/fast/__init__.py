"""Commands that start fast, because they do not import typer. Keep the imports here few.

All other commands are in `cli/commands`.
"""
