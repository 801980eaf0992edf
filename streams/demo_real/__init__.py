"""A real small training with a real slow data path: an object store, a loader, a network that learns, and the hook."""
