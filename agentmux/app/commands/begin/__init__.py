"""Start a session: read its issue, choose its name, pipeline and workplace, and create it."""
