"""The default on tables that none of its rules were made on, beside its peers."""
