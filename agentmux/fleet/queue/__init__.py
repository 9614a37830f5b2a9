"""What waits: submitted features, backlogs, and which host takes which."""
