"""Loaders of model files and folders: skops, ONNX, pickle and MLflow, with checks of untrusted files."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_loaders() -> Iterable[faithkit.plugin.Component]:
    """Provide the loaders."""
    yield faithkit.plugin.Component(
        name="skops",
        factory="faithkit_model_files.loaders:SkopsFiles",
        summary="A model in a file of skops: its content is checked before anything is made of it.",
        requires=("skops",),
        types=(".skops",),
    )
    yield faithkit.plugin.Component(
        name="onnx",
        factory="faithkit_model_files.loaders:OnnxFiles",
        summary="A classifier in an ONNX file.",
        requires=("onnxruntime",),
        types=(".onnx",),
    )
    yield faithkit.plugin.Component(
        name="pickle",
        factory="faithkit_model_files.loaders:Pickles",
        summary="A pickle, also of joblib: only where it is trusted, because code runs.",
        types=(".joblib", ".pkl", ".pickle"),
    )
    yield faithkit.plugin.Component(
        name="mlflow",
        factory="faithkit_model_files.loaders:MLflowFolders",
        summary="A folder that MLflow saved: only where it is trusted, because code runs.",
        requires=("mlflow",),
        types=("MLmodel",),
    )
