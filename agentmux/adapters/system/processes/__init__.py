"""Programs that run: ours, those that we start, and those that outlived something."""
