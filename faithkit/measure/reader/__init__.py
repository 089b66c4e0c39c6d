"""A reader sees explanations only, and guesses predictions: how well it does bounds consistency."""
