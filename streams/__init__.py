"""Where it runs: pure stages, the topology, two runtimes, stores, the feed, the agents and the command line."""
