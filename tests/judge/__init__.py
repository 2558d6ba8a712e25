"""Our controllers beside controllers of public QUIC stacks, on the same links."""
