"""What the files of a configuration may say."""
