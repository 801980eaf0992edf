"""The correlate stage: from detections and events of one job to incidents.

tracks     the last values of every signal, and what is normal
grouping   which findings belong together: by cause, entity and onset, never by nearness alone
cost       GPU hours lost against the frozen baseline
life       open, recovering, resolved, closed
draft      a case becomes the incident that people and playbooks read
"""
