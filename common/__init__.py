"""What all packages share."""
