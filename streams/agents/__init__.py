"""What runs beside the training job: the trainer's hook, the node agent, and simulated ones."""
