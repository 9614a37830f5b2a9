"""Whether a seat's agent resumes its conversation. The phase a session resumes in: `decisions`."""
