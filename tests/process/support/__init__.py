"""What whole-server tests and benches share: a raw client, and how to start servers in isolation."""
