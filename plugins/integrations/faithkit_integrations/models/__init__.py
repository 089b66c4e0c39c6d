"""Models that other libraries train without an estimator: each becomes the estimator of its own library.

So they have labels, scores and classes, and explainers that read trees find them.
"""
