"""What agents write, with its rules: plans and reviews. When it counts is `pipeline`."""
