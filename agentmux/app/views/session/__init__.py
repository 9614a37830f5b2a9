"""What cli, monitor, desk and web show of one session, as data."""
