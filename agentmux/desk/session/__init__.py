"""The desk's pages about one session: overview, screens, documents, diff, journal and others."""
