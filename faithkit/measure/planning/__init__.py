"""How many rows a sample needs."""
