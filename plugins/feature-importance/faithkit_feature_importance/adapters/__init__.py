"""Adapters of importances from other libraries. They read attributes and import nothing."""
