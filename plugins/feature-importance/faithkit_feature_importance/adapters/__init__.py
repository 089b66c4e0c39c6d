"""Feature importances that other libraries made, as `Explanations`: read by attribute, nothing imported."""
