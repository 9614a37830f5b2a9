"""The handlers of the web page: the pages that it shows, and the forms that it accepts."""
