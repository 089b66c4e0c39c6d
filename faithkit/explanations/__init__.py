"""What an explanation is: its kinds, rules, when two are the same, and for which rows one holds."""
