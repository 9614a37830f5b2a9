"""All calls of git, for one project. `app/loop` decides when to commit."""
