"""What a session does next, and where it resumes. Doing it is `app/loop`."""
