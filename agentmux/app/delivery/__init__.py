"""What is approved, and where it goes: the preview, the commit and the steps after it."""
