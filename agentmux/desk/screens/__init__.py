"""The desk's screens, dialogs and widgets."""
