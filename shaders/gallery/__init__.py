"""Whole programs that make a picture or a number; `tools/demo` runs them on every device."""
