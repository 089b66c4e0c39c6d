"""Sample size planning: how many rows a sample needs."""
