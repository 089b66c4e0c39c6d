"""Anchors of tables and texts (Ribeiro, Singh, Guestrin 2018), searched for many rows at a time."""
