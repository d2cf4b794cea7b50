"""A stand-in for PyCUDA, for tests without a GPU; see ../libcuda.cpp."""
