"""Decodes keys, and decides what each key does in the picker, the monitor and the desk."""
