"""The runtimes: they decode, load memory, feed the line, save memory and send; they decide nothing."""
