"""Commands that run often and must start fast, so they do not import typer.

Keep the imports here few. All other commands are in `cli/commands`.
"""
