"""Thin outsides: parse, call one operation, render the outcome."""
