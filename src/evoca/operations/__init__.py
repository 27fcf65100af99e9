"""The catalogue: every operation once. All surfaces derive from it."""
