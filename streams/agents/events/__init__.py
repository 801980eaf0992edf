"""What other systems tell as events: alerts, health events, states of schedulers; one file for each."""
