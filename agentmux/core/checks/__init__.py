"""What the commands of a check have shown, and what follows; not when they run: `pipeline`."""
