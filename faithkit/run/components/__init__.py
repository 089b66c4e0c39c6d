"""Components: resolve names and objects, and configure the measurement."""
