"""The actions, one file each; `catalogue.py` lists them."""
