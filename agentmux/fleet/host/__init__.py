"""One host of the fleet: its slots, sessions, repositories, leases, and checks of what it runs."""
