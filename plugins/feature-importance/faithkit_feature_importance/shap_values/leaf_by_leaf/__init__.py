"""SHAP values of trees, exact by the columns of the table: each leaf is a game of the columns on its path."""
