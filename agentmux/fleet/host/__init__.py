"""One host of the fleet: its slots, sessions, repositories, leases, and what it accepts."""
