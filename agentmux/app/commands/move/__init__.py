"""Export a session to a file, and import it on another machine or in another clone."""
