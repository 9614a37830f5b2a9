"""All of git, for one project. When something is committed is decided in `app/loop`."""
