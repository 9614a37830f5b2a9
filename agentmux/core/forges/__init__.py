"""What is known about forges (GitHub, GitLab, …), as values. Runs no program."""
