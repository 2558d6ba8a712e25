"""The documentation; the package `site` makes a site of its pages."""
