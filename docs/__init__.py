"""The documentation; the package `site` makes a website from its pages."""
