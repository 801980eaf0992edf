"""The correlate stage: from detections and events of one job to incidents.

tracks     the last values of every signal, and what is normal
grouping   every finding gets its place: a case it fits, a new one, or none yet
finding    what a case is made of
fit        whether a finding belongs to a case: by cause, entity and onset, never by nearness alone
overlap    of two cases at once: what a later one adds is its own
life       open, recovering, resolved, closed
cost       GPU hours lost against the frozen baseline
taint      which steps, checkpoints and data are contaminated
draft      a case becomes the incident that people and playbooks read
late_word  of a person, on an incident that is forgotten here
fleet      what a job tells its cluster, and hears from it
"""
