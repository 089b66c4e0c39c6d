"""Reports of results: texts, pages, plots, and JUnit XML."""
