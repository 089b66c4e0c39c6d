"""The reader: what somebody could guess who sees only the explanations."""
