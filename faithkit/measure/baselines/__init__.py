"""What a measure is compared with: chance, by permutations, and explanations chosen without the model."""
