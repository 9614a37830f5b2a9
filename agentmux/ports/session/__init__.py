"""Sessions on disk, and the texts and pipelines that they use."""
