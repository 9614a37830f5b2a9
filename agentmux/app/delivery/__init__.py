"""Preview what an approval delivers, commit it, then merge, push or request it."""
