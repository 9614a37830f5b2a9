"""What is to be seen of sessions, as data, by reading only. How it looks is `cli`."""
