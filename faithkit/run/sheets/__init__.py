"""The sheets of results: their first screen, all their numbers and sentences, and their page."""
