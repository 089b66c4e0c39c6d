"""The extension API: hook specs, components, the registry, and the kernel's own components."""

KERNEL = "faithkit"
"""The name of the kernel's distribution, and of its package."""
