"""The loaders. Each imports its library only when it loads a model."""

import base64
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faithkit

Example = tuple[str, Any]
_ROWS = [[0.0], [1.0]]  # the rows of the examples
# an ONNX file in base64: predicts 1 if the largest value of a row is above a half
_ONNX = (
    "CAgSADqUAQovCgFYEgFtIglSZWR1Y2VNYXgqCwoEYXhlc0ABoAEHKg8KCGtlZXBkaW1zGACgAQIKEgoBbQoBaBIBYiIHR3Jl"
    "YXRlcgoXCgFiEgF5IgRDYXN0KgkKAnRvGAegAQISBWFib3ZlKgsQASIEAAAAP0IBaFoRCgFYEgwKCggBEgYKAAoCCAFiDQoB"
    "eRIICgYIBxICCgBCBAoAEA0="
)


class Pickles:
    """Loader of pickles, also those of joblib. Loading runs any code in the file."""

    runs_code = True

    def load(self, path: str) -> Any:
        """Return the pickled model."""
        import joblib

        return joblib.load(path)

    def example(self, folder: str) -> Example:
        """Pickle a tree, and return the file and rows for it."""
        import joblib

        path = os.path.join(folder, "tree.joblib")
        joblib.dump(_fit_tree(), path)
        return path, _ROWS


class SkopsFiles:
    """Loader of skops files whose types are all trusted.

    Parameters
    ----------
    trust_types : sequence of str
        Full names of types and functions that a file may contain, in addition to those known to be harmless.
    """

    runs_code = False

    def __init__(self, trust_types: Sequence[str] = ()) -> None:
        self.trust_types = trust_types

    def load(self, path: str) -> Any:
        """Return the model, or raise an error that names the untrusted types."""
        from faithkit_model_files.skops_files import load_skops

        return load_skops(path, self.trust_types)

    def example(self, folder: str) -> Example:
        """Write a tree, and return the file and rows for it."""
        import skops.io

        path = os.path.join(folder, "tree.skops")
        skops.io.dump(_fit_tree(), path)
        return path, _ROWS


class OnnxFiles:
    """Loader of classifiers in ONNX files, which onnxruntime runs."""

    runs_code = False

    def load(self, path: str) -> Any:
        """Return the model, with `predict` and, if it has scores, `predict_proba`."""
        from faithkit_model_files.onnx_model import OnnxModel

        return OnnxModel(path)

    def example(self, folder: str) -> Example:
        """Write a comparison, and return the file and rows for it."""
        path = os.path.join(folder, "above.onnx")
        Path(path).write_bytes(base64.b64decode(_ONNX))
        return path, _ROWS


class MLflowFolders:
    """Loader of folders that MLflow saved.

    It returns the original model if that has `predict`, else MLflow's wrapper. Loading runs any code in the
    folder. It contacts no server.
    """

    runs_code = True

    def load(self, path: str) -> Any:
        """Return the saved model."""
        _disable_telemetry()
        import mlflow.pyfunc

        try:
            model = mlflow.pyfunc.load_model(path)
            # it has scores, and explainers can read it; the wrapper rejects dtypes that gaps change
            raw_model = model.get_raw_model()
        except NotImplementedError:  # a custom class
            return model
        except Exception as error:
            raise faithkit.errors.InputError(
                f"loading {path} failed with {type(error).__name__}: {' '.join(str(error).split())}. It may "
                "be damaged, or need other versions: see its requirements.txt."
            ) from error
        return raw_model if hasattr(raw_model, "predict") else model

    def example(self, folder: str) -> Example:
        """Save a tree, and return its folder and rows for it."""
        _disable_telemetry()
        import mlflow.sklearn

        path = os.path.join(folder, "tree")
        # inferring the requirements takes long
        mlflow.sklearn.save_model(_fit_tree(), path, serialization_format="cloudpickle", pip_requirements=[])
        return path, _ROWS


def _disable_telemetry() -> None:
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # loading a file must not send data


def _fit_tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=0).fit(_ROWS, ["no", "yes"])
