"""The commands of `trainmaster`, a file per topic; `streams.cli` puts them together."""
