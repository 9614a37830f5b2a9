"""How events change one part of the state each; what calls them is in the room above."""
