"""DiCE: counterfactuals by the three searches of dice-ml, those of many rows together."""
