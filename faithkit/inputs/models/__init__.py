"""Models from files, functions and other libraries, behind one interface."""
