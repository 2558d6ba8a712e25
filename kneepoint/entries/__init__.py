"""Other people's senders: taken in, recognized, built and run, in a sandbox, and told by a rule."""
