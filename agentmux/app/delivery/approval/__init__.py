"""Look at a result before its approval: what it is, its digest, and what would be delivered."""
