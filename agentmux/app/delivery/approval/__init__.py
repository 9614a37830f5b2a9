"""What a user is shown before an approval."""
