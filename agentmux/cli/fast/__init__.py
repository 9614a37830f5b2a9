"""What `__main__` and `main` start before typer loads. Import little. The rest is `commands`."""
