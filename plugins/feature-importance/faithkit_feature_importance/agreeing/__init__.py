"""Whether two explainers say the same of a prediction (Krishna et al., "The Disagreement Problem", 2022)."""
