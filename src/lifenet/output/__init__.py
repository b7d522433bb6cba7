"""Step 3: the output layer, a penalised linear model of the neurons."""
