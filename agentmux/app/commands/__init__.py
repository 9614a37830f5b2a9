"""The operations of the commands for people, one in each file; `views` has those that only read."""
