"""Methods of the estimators that write and read files."""

import os
import warnings
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from featuresieve.errors import FeatureSieveWarning, FileFormatError
from featuresieve.files import write_atomically
from featuresieve.storage import (
    CLASS_NAMES,
    OBJECT_ARGUMENTS,
    SavedEstimator,
    from_plain_state,
    onnx_model,
    plain_state,
    read_estimator,
    selection_text,
    write_estimator,
)

PathLike = str | os.PathLike[str]


class Persistence:
    """What an estimator inherits to be saved and loaded."""

    def __getstate__(self) -> dict[str, Any]:
        return plain_state(super().__getstate__())  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(from_plain_state(state))  # type: ignore[misc]

    def save(self, path: PathLike) -> None:
        """Write the fitted estimator to one file, without pickle.

        The file holds the constructor's arguments, all that was learnt, and the
        weights of the predictor: safetensors with a JSON header. It is written whole
        or not at all, and has no time stamp: equal estimators give equal files.

        Parameters
        ----------
        path : str or path-like
            An existing file is replaced.

        Raises
        ------
        TypeError
            If no file that can be loaded holds an argument or the class labels; the
            file is not touched then. And always with a
            `task_network` of your own: such an estimator needs pickle or joblib.

        Warns
        -----
        FeatureSieveWarning
            If `random_state` is a RandomState, `cv` a splitter or `judge` an estimator:
            they are saved as None, None and "networks".
        """
        check_is_fitted(self)
        attributes = vars(self)
        training = attributes["training"]
        if getattr(training, "task_network", None) or attributes["_task_network"]:
            raise TypeError(
                "an estimator with a task_network of its own cannot be saved: the "
                "file would have to hold code. Use pickle or joblib."
            )
        for name, (default, plain) in OBJECT_ARGUMENTS.items():
            if not isinstance(attributes[name], plain):
                warnings.warn(
                    f"{name}={attributes[name]!r} is saved as {default!r}: what is "
                    "loaded will predict the same, but another fit of it will differ.",
                    FeatureSieveWarning,
                    stacklevel=2,
                )
        write_estimator(path, self, _class_name(type(self)))

    def to_json(self, path: PathLike | None = None) -> str:
        """Describe the selection as JSON, for other programs.

        Names, what is kept, ranks, frequencies and logits of all features, the path
        and the balance; no weights. ``storage/schemas/selection-1.json`` in the
        package is its JSON Schema.

        Parameters
        ----------
        path : str or path-like, default=None
            Where to write the text too; an existing file is replaced.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        text = selection_text(self, _class_name(type(self)))
        if path is not None:
            write_atomically(path, f"{text}\n".encode())
        return text

    def to_onnx(
        self, path: PathLike, *, predictor: bool = False, dtype: str = "float32"
    ) -> None:
        """Write a model of ONNX that selects the kept columns, or predicts with them.

        If all columns of the table in `fit` were numbers or booleans, there is one
        input, ``X``, of shape (rows, n_features_in_), NaN where a value is missing. A
        table with text, categories or dates goes in column by column, each an input of
        its name and of shape (rows, 1); docs/files.md says how. Needs the extra `onnx`.

        Parameters
        ----------
        path : str or path-like
            An existing file is replaced.
        predictor : bool, default=False
            False: the output ``kept`` holds the kept columns of ``X``, or outputs
            ``kept_...`` those of the inputs, which are all columns. True: of columns
            the kept ones are the inputs, and the outputs are ``label`` and
            ``probabilities``, ``labels`` and ``probabilities`` if there are several
            labels a row, or ``prediction``.
        dtype : {"float32", "float64"}, default="float32"
            Of the numbers that go in and come out; inside it is float64.

        Raises
        ------
        ImportError
            If onnx is not installed.
        TypeError, ValueError
            If ONNX cannot hold the levels of a column or the class labels, and for the
            predictor always with a `task_network` of your own.
        """
        check_is_fitted(self)
        write_atomically(path, onnx_model(self, predictor=predictor, dtype=dtype))

    @classmethod
    def load(cls, path: PathLike) -> Self:
        """Read a file that `save` wrote; nothing in it is run.

        `featuresieve.load` does the same for files of either estimator.

        Parameters
        ----------
        path : str or path-like
            A file of this or an earlier version of the library.

        Returns
        -------
        estimator
            Fitted, and equal to the one that was saved. It need not have been fitted
            on a device that is here.

        Raises
        ------
        FileFormatError
            If the file is truncated, damaged, of a newer schema version, of the other
            estimator, or not written by `save` at all.
        """
        saved = read_estimator(path)
        if saved.class_name != _class_name(cls):
            raise FileFormatError(
                f"{os.fspath(path)} cannot be loaded: it holds an {saved.class_name}. "
                f"Use {saved.class_name}.load or featuresieve.load."
            )
        estimator: Self = restored(cls, saved, path)
        return estimator


def _class_name(cls: type) -> str:
    """Return the name of an estimator, or of the one it is derived from."""
    return next(base.__name__ for base in cls.__mro__ if base.__name__ in CLASS_NAMES)


def restored(cls: type[Any], saved: SavedEstimator, path: PathLike) -> Any:
    """Build an estimator from what a file says."""
    known = cls().get_params(deep=False)
    unknown = sorted(saved.parameters.keys() - known.keys())
    if unknown:
        raise FileFormatError(
            f"{os.fspath(path)} cannot be loaded: {unknown[0][:80]!r} is no argument "
            f"of {cls.__name__}; featuresieve {saved.version[:80]} wrote the file."
        )
    estimator = cls(**saved.parameters)
    if saved.output is not None:
        estimator.set_output(transform=saved.output)
    vars(estimator).update(saved.attributes)
    return estimator
