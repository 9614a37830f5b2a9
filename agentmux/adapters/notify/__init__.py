"""Sends notifications in a helper process, and starts that process."""
