"""The rules of the fleet: what may be submitted, who may act, how a drive ends."""
