"""Ready callbacks for trainers; copied beside the hook, like it, and needing no more than the trainer's own library."""
