"""Components: resolve what people name or pass, and configure how a measurement is taken."""
