"""Anchors of tables and texts (Ribeiro, Singh, Guestrin 2018): the searches of many rows advance together."""
