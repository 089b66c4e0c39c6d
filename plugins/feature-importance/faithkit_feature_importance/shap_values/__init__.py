"""SHAP values: exact for trees and linear models, else by asking the model about mixtures of rows."""
