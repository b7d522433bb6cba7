"""Fine-tuning: all neurons and the output layer refined together."""
