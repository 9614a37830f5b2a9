"""Every signal and decision of the user, each described in one place; the faces only collect."""
