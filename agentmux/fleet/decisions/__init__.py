"""What is decided on features and hosts: by people, and when a drive ends."""
