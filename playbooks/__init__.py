"""Why it happened, and what to do about it: causes, playbooks, actions and sinks; imports only `schemas`."""
