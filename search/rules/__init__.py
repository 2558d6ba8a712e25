"""Rules as data: their language, and a search for them."""
