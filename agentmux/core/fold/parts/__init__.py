"""How an event changes one part of the state, such as the seats. `fold/apply` calls these."""
