"""Pages for readers, and in `site` what makes a site of them."""
