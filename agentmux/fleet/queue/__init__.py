"""The queue of features: submit them, read backlogs, list them, and admit them to hosts."""
