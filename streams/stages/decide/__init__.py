"""The decide stage: from incidents to requests, and from the job's answer to a verdict on them."""
