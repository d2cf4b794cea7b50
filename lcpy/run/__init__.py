"""Devices, buffers and launches."""
