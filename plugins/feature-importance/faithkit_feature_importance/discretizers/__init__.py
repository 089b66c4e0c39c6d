"""What makes two vectors of importances equal (the appendix of the paper)."""
