"""Adapters for models that are not estimators: each becomes the estimator of its own library.

So they have labels, scores and classes, and explainers that inspect trees can find them.
"""
