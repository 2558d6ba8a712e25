"""The documentation as a site: its pages, and a reference made of declarations."""
