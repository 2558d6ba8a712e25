"""Contest entries: collects, recognizes and builds untrusted senders, and identifies their rules."""
