"""What a person's command does, one operation in each file. What only reads is in `views`."""
