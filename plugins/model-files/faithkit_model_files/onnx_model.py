"""A classifier in an ONNX file, with `predict` and `predict_proba`."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import faithkit
from faithkit_model_files.onnx_messages import find_labels, has_external_data

_TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}


class OnnxModel:
    """A classifier that onnxruntime runs. Its input is one matrix, or one tensor per column of the table.

    The first output is the label. The second output, if any, holds the probabilities: a matrix or, as
    skl2onnx writes it by default, one mapping per row. The file defines the labels and their order.

    Parameters
    ----------
    path : str
        The file. The model stores its bytes, so that workers do not need the file.
    """

    def __init__(self, path: str) -> None:
        self._content = Path(path).read_bytes()
        if has_external_data(self._content):
            raise faithkit.errors.InputError(
                f"{path} keeps numbers in other files, which are not read. "
                "Save the model in one file: onnx.save_model(model, path, save_as_external_data=False)."
            )
        self._open()

    def _open(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # faithkit's workers run in parallel already
        options.log_severity_level = 4  # errors are raised, so do not log them
        # the runtime's own format was not checked for external files
        options.add_session_config_entry("session.load_model_format", "ONNX")
        # some builds have other providers, and one of them contacts servers that the model names
        providers = ["CPUExecutionProvider"]
        self._session = onnxruntime.InferenceSession(self._content, options, providers=providers)
        self._inputs = self._session.get_inputs()
        if len(self._session.get_outputs()) > 1:
            self._read_classes()
            self.predict_proba = self._predict_proba

    def __getstate__(self) -> dict[str, Any]:
        return {"_content": self._content}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._content = state["_content"]
        self._open()

    @property
    def feature_names_in_(self) -> list[str] | None:
        """The names of the input columns; None if the input is one matrix."""
        return None if len(self._inputs) == 1 else [str(model_input.name) for model_input in self._inputs]

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of every row."""
        labels = np.asarray(self._session.run([self._session.get_outputs()[0].name], self._feed(X))[0])
        return labels.ravel()

    def _predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class, in the order of `classes_`."""
        scores = self._session.run([self._session.get_outputs()[1].name], self._feed(X))[0]
        if isinstance(scores, list):
            classes = getattr(self, "classes_", None)
            order = sorted(scores[0]) if classes is None else classes.tolist()
            return np.array([[row[label] for label in order] for row in scores], dtype=np.float64)
        return np.asarray(scores, dtype=np.float64)

    def _read_classes(self) -> None:
        """Read the classes from the file, if it has them; else they are learnt from the background."""
        label, scores = self._session.get_outputs()[:2]
        is_mapping = scores.type.startswith("seq(map")
        with contextlib.suppress(ValueError):  # the runtime accepts some invalid files
            labels = find_labels(self._content, scores.name if is_mapping else label.name)
            width = scores.shape[-1] if scores.shape else None
            if labels and (is_mapping or not isinstance(width, int) or width == len(labels)):
                self.classes_ = np.array(labels)

    def _feed(self, X: Any) -> dict[str, Any]:
        if len(self._inputs) == 1:
            only_input = self._inputs[0]
            rows, dtype = np.asarray(X), _TYPES.get(only_input.type, np.float32)
            if rows.dtype == object and dtype is not object:  # NumPy cannot convert NA, of nullable columns
                rows = np.where(pd.isna(rows), np.nan, rows)
            return {only_input.name: rows.astype(dtype)}
        if not isinstance(X, pd.DataFrame):
            raise faithkit.errors.InputError(
                f"the ONNX model takes {len(self._inputs)} named columns, and X has none: give a DataFrame."
            )
        missing = [model_input.name for model_input in self._inputs if model_input.name not in X.columns]
        if missing:
            raise faithkit.errors.InputError(
                f"the ONNX model wants the column {missing[0]!r}, which X does not have."
            )
        return {
            model_input.name: _to_tensor(X[model_input.name], model_input.type)
            for model_input in self._inputs
        }


def _to_tensor(column: Any, kind: str) -> np.ndarray:
    dtype = _TYPES.get(kind, np.float32)
    if dtype is object:
        texts: np.ndarray = column.map(str, na_action="ignore").to_numpy(dtype=object, na_value="")
        return texts.reshape(-1, 1)
    return column.to_numpy(dtype=dtype).reshape(-1, 1)
