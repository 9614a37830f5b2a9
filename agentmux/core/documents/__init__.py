"""Plans, reviews, issue texts: their validation and Markdown. Other artifacts: `pipeline`."""
