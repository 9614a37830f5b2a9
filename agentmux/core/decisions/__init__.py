"""What a session does next, where it resumes and what it needs. Order of phases: `pipeline`."""
