"""Settings of the site, for Sphinx: see `make site`."""

project = "Kneepoint"
author = "Kneepoint contributors"
project_copyright = "2026, Kneepoint contributors"
extensions = ["myst_parser"]
myst_heading_anchors = 4
nitpicky = True
html_theme = "furo"
html_title = "Kneepoint"
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
