"""Decisions on features and hosts: by people, and by the host when a drive ends."""
