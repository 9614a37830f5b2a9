"""Files in one session's folder, and exported sessions. Durable writes: `adapters/disk`."""
