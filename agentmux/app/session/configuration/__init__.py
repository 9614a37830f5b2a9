"""Choose, freeze and renew what a session keeps of the configuration under which it began."""
