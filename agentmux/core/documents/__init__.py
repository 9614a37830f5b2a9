"""Plans and reviews: the rules of their content, their Markdown. Other artifacts: `pipeline`."""
