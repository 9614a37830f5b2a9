"""Names: phases, roles, files of a session, labels of statuses. Rules about them are elsewhere."""
