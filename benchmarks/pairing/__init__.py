"""Interleaved comparisons of two programs that load the same NATS server."""
