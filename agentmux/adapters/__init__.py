"""The outside world behind the ports: one library or outside thing each."""
