"""What LIFE must show: the algorithm against the text, accuracy, speed, memory, sampling."""
