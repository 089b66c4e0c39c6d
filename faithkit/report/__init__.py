"""What goes out: text now, pages and plots beside it."""
