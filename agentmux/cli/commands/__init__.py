"""Commands that typer parses: arguments in, text or JSON out. What a command does is in `app`."""
