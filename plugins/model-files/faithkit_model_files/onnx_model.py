"""A classifier in an ONNX file, with the two methods that every other model has."""

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
    """A classifier that onnxruntime runs: either one matrix goes in, or a tensor per column of the table.

    The first output is the label; the second, where there is one, the probabilities, as a matrix or (as
    skl2onnx writes it by default) as one mapping per row. Its labels, and their order, are those in the file.

    Parameters
    ----------
    path : str
        The file. It is kept as bytes, so that workers need not find the file.
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
        options.intra_op_num_threads = 1  # workers are told how many there are to be
        options.log_severity_level = 4  # what goes wrong is raised, too
        # the runtime has a format of its own, which was not looked at for names of files
        options.add_session_config_entry("session.load_model_format", "ONNX")
        # others are there in some builds, and one of them asks servers that the model names
        only = ["CPUExecutionProvider"]
        self._session = onnxruntime.InferenceSession(self._content, options, providers=only)
        self._inputs = self._session.get_inputs()
        if len(self._session.get_outputs()) > 1:
            self._learn_classes()
            self.predict_proba = self._predict_proba

    def __getstate__(self) -> dict[str, Any]:
        return {"_content": self._content}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._content = state["_content"]
        self._open()

    @property
    def feature_names_in_(self) -> list[str] | None:
        """The columns that it takes by name; None where it takes them all as one."""
        return None if len(self._inputs) == 1 else [str(given.name) for given in self._inputs]

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of every row."""
        labels = np.asarray(self._session.run([self._session.get_outputs()[0].name], self._feed(X))[0])
        return labels.ravel()

    def _predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every class, in the order of `classes_`."""
        found = self._session.run([self._session.get_outputs()[1].name], self._feed(X))[0]
        if isinstance(found, list):
            classes = getattr(self, "classes_", None)
            order = sorted(found[0]) if classes is None else classes.tolist()
            return np.array([[row[label] for label in order] for row in found], dtype=np.float64)
        return np.asarray(found, dtype=np.float64)

    def _learn_classes(self) -> None:
        """Know the classes where the file has them; else they are learnt from the background."""
        label, scores = self._session.get_outputs()[:2]
        mapped = scores.type.startswith("seq(map")
        with contextlib.suppress(ValueError):  # nobody wrote it as it should be, and the runtime takes it
            labels = find_labels(self._content, scores.name if mapped else label.name)
            width = scores.shape[-1] if scores.shape else None
            if labels and (mapped or not isinstance(width, int) or width == len(labels)):
                self.classes_ = np.array(labels)

    def _feed(self, X: Any) -> dict[str, Any]:
        if len(self._inputs) == 1:
            only = self._inputs[0]
            return {only.name: np.asarray(X).astype(_TYPES.get(only.type, np.float32))}
        if not isinstance(X, pd.DataFrame):
            raise faithkit.errors.InputError(
                f"the ONNX model takes {len(self._inputs)} named columns, and X has none: give a DataFrame."
            )
        absent = [given.name for given in self._inputs if given.name not in X.columns]
        if absent:
            raise faithkit.errors.InputError(
                f"the ONNX model wants the column {absent[0]!r}, which X does not have."
            )
        return {given.name: _tensor(X[given.name], given.type) for given in self._inputs}


def _tensor(column: Any, kind: str) -> np.ndarray:
    dtype = _TYPES.get(kind, np.float32)
    if dtype is object:
        words: np.ndarray = column.map(str, na_action="ignore").to_numpy(dtype=object, na_value="")
        return words.reshape(-1, 1)
    return column.to_numpy(dtype=dtype).reshape(-1, 1)
