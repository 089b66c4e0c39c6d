"""Pictures: plots on Matplotlib axes, and as SVG on pages."""
