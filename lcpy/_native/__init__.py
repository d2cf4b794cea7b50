"""The door to the C++ core: one extension module, ``core``."""
