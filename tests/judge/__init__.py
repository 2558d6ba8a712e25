"""Our controllers beside those of public QUIC stacks, on the same links."""
