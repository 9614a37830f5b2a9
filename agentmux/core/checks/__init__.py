"""What the commands of a check have shown; `verdict` says whether it has passed."""
