"""All calls of git, for one project, and finding its work tree. `app` decides what to do."""
