"""What a person's command does, one operation a file. What only looks is `views`."""
