"""Signs: patterns in the events and values of a job that no single detector sees.

sign       what a sign is
watch      every sign looks, and what they see becomes detections
catalogue  every sign; each has a file of its own
"""
