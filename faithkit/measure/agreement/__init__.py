"""Agreement of predictions: equal labels, numbers within a tolerance, numbers and scores by distance.

Predictions are codes; only this package knows what a code stands for. All counting uses a few sums of
agreement: over the slots of one explanation, over the instances for which it holds, and over the explanations
that hold for an instance. The rest of the pipeline does not depend on the kind of agreement.
"""
