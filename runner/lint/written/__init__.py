"""What is written: digits, numbers and what each of them is, names of metrics, depths, sentences."""
