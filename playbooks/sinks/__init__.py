"""The sinks that tell people, one file each; `catalogue.py` lists them."""
