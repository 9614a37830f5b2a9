"""Resume records, and whether an agent resumes its conversation. The phase: `decisions`."""
