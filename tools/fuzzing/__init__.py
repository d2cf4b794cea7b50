"""Random programs of the kernel language, run on every device: see tests/fuzz/README.md."""
