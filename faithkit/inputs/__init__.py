"""What comes in: tables, models, datasets, and the helpers explainers are fitted with."""
