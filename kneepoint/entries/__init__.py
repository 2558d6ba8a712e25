"""Contest entries: untrusted senders are collected, recognized, built, run and identified."""
