"""Reading what trainers, libraries, kernels and launchers print: one file per format; `reader.py` runs them."""
