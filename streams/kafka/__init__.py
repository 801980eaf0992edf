"""What both sides of Kafka share: connections, topics, and producers that never go silent. Faust is not in here."""
