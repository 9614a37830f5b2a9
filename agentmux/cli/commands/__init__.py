"""Commands as typer parses them: words in, text or JSON out. What they do is `app`."""
