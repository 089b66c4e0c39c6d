"""How far two predictions agree: labels that are the same, numbers that are near, numbers by their distance.

Predictions are codes; what a code stands for is known here and nowhere else. Everything that is counted goes
through a few sums of agreement: over the slots of one explanation, over the instances for which it holds,
and over the explanations that hold for an instance. The rest of the pipeline does not know which it is.
"""
