"""The phases: what each leaves, when it is complete, its seats. What comes next is `decisions`."""
