"""Commands that run without loading typer. Import little here. Other commands: `commands`."""
