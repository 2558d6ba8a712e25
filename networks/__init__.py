"""Networks: their configuration, and the traces that drive their links."""
