"""The feed: REST, server-sent events, HTTP ingest and the operators' page."""
