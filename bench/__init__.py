"""Benchmarks: figures, never tests. `make bench` runs all and writes bench/results/NAME.json."""
