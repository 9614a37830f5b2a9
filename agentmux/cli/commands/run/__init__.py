"""Commands that begin, resume and steer sessions."""
