"""Running requests: each once, under a lease, looked at again just before it acts, and told how it ended.

runner    takes requests and repeats what may be repeated
one_try   one try of a piece of work
footing   what a runner stands on: alone, or among others
settings  how patiently
"""
