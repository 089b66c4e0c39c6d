"""SHAP values: exact for trees and linear models, else from the model's scores of mixed rows."""
