"""Where an approved result goes: the steps after its commit. `loop` takes them."""
