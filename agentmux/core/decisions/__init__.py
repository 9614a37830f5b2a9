"""What a session does next, and the phase it resumes in. The order of phases is in `pipeline`."""
