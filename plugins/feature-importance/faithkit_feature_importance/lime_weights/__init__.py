"""LIME: the weights of linear models fitted around instances, for tables and for texts."""
