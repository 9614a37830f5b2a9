"""Whether an agent's conversation comes back, and its record. A session's resume is in `app`."""
