"""Between plain data and values: frozen classes, JSON fields. Knows no phase and no agent."""
