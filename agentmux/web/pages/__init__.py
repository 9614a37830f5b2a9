"""What the page shows and sends."""
