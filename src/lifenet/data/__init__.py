"""What is fitted: rows, checked inputs, folds and codes of the columns."""
