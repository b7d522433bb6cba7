"""The command line: `lifenet fit`, `predict`, `explain` and more, for tables in files."""
