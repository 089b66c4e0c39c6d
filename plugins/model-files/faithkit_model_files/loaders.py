"""The loaders. Their libraries are imported when a model is loaded, not before."""

import base64
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faithkit

Example = tuple[str, Any]
_ROWS = [[0.0], [1.0]]  # what the models of examples are asked
# of an ONNX file: 1 where the largest cell of a row is above a half
_ONNX = (
    "CAgSADqUAQovCgFYEgFtIglSZWR1Y2VNYXgqCwoEYXhlc0ABoAEHKg8KCGtlZXBkaW1zGACgAQIKEgoBbQoBaBIBYiIHR3Jl"
    "YXRlcgoXCgFiEgF5IgRDYXN0KgkKAnRvGAegAQISBWFib3ZlKgsQASIEAAAAP0IBaFoRCgFYEgwKCggBEgYKAAoCCAFiDQoB"
    "eRIICgYIBxICCgBCBAoAEA0="
)


class Pickles:
    """Models in pickles, also those of joblib: loading one runs whatever code is in it."""

    runs_code = True

    def load(self, path: str) -> Any:
        """Return what was pickled."""
        import joblib

        return joblib.load(path)

    def example(self, folder: str) -> Example:
        """Pickle a tree, and return the file and rows for it."""
        import joblib

        path = os.path.join(folder, "tree.joblib")
        joblib.dump(_tree(), path)
        return path, _ROWS


class SkopsFiles:
    """Models in files of skops, if all that they are made of is trusted.

    Parameters
    ----------
    trust_types : sequence of str
        Full names of types and functions that a file may hold, besides those that are known to be harmless.
    """

    runs_code = False

    def __init__(self, trust_types: Sequence[str] = ()) -> None:
        self.trust_types = trust_types

    def load(self, path: str) -> Any:
        """Return the model, or refuse it with the names of what is not trusted."""
        from faithkit_model_files.skops_files import load_skops

        return load_skops(path, self.trust_types)

    def example(self, folder: str) -> Example:
        """Write a tree, and return the file and rows for it."""
        import skops.io

        path = os.path.join(folder, "tree.skops")
        skops.io.dump(_tree(), path)
        return path, _ROWS


class OnnxFiles:
    """Classifiers in ONNX files, which onnxruntime runs."""

    runs_code = False

    def load(self, path: str) -> Any:
        """Return the model, with the methods that others have."""
        from faithkit_model_files.onnx_model import OnnxModel

        return OnnxModel(path)

    def example(self, folder: str) -> Example:
        """Write a comparison, and return the file and rows for it."""
        path = os.path.join(folder, "above.onnx")
        Path(path).write_bytes(base64.b64decode(_ONNX))
        return path, _ROWS


class MLflowFolders:
    """Models in folders that MLflow saved: itself where it has `predict`, else MLflow's face of it.

    Loading one runs whatever code is in it. No server is asked.
    """

    runs_code = True

    def load(self, path: str) -> Any:
        """Return the model that was saved."""
        _no_telemetry()
        import mlflow.pyfunc

        try:
            model = mlflow.pyfunc.load_model(path)
            # it has scores, and explainers can read it; MLflow's own model checks types that a gap changes
            own = model.get_raw_model()
        except NotImplementedError:  # a class of the user's own
            return model
        except Exception as error:
            raise faithkit.errors.InputError(
                f"loading {path} failed with {type(error).__name__}: {' '.join(str(error).split())}. It may "
                "be damaged, or need other versions: see its requirements.txt."
            ) from error
        return own if hasattr(own, "predict") else model

    def example(self, folder: str) -> Example:
        """Save a tree, and return its folder and rows for it."""
        _no_telemetry()
        import mlflow.sklearn

        path = os.path.join(folder, "tree")
        # what the tree needs is not looked for: that takes long
        mlflow.sklearn.save_model(_tree(), path, serialization_format="cloudpickle", pip_requirements=[])
        return path, _ROWS


def _no_telemetry() -> None:
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # to load a file is nobody else's business


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0).fit(_ROWS, ["no", "yes"])
