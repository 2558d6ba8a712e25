"""Settings of the site, for Sphinx: see `make site`."""

project = "Kneepoint"
author = "Kneepoint contributors"
project_copyright = "2026, Kneepoint contributors"
extensions = ["myst_parser"]
myst_heading_anchors = 4
nitpicky = True
html_theme = "alabaster"
html_theme_options = {
    "description": "The knee of the throughput-delay curve",
    "fixed_sidebar": True,
    "page_width": "1100px",
}
html_show_sourcelink = False
html_copy_source = False
html_last_updated_fmt = None
