"""How fast the line is on Kafka, how late its verdicts come, and how long a killed worker is missed."""
