"""The pure rules of the fleet: requests, repositories, leases, routing, statuses, the board."""
