"""The pure stages: detect, correlate, decide. The same input gives the same bytes, whichever runtime feeds them."""
