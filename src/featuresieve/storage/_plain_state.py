"""The fitted parts of an estimator as plain arrays, lists and dicts, and back.

What pickle, joblib, cloudpickle and skops see: no class of the library but the
estimator's own, so that nothing else needs trust, and classes may move.
"""

from dataclasses import fields
from typing import Any

from featuresieve.engine import Predictor, Training
from featuresieve.problem import ClassEncoder, ValueScaler
from featuresieve.search import Judgement
from featuresieve.storage._encoder_state import encoder_from_state, encoder_state

# Attributes that are objects of the library, and their classes.
_CLASSES: dict[str, tuple[type[Any], ...]] = {
    "_judgement": (Judgement,),
    "_predictor": (Predictor,),
    "_target_code": (ClassEncoder, ValueScaler),
}
# Where the entries of `training` are, which is an object of the library too.
_TRAINING = "_training"
# What stays with the process that fitted: the encoded table.
_LEFT_OUT = "_prepared"


def plain_state(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an estimator with plain values for its fitted parts."""
    state = {name: value for name, value in attributes.items() if name != _LEFT_OUT}
    for name in _CLASSES.keys() & state.keys():
        if state[name] is not None:
            value = state[name]
            state[name] = {f.name: getattr(value, f.name) for f in fields(value)}
    if type(state.get("training")) is Training:
        state[_TRAINING] = state.pop("training").get_params(deep=False)
    if "_encoder" in state:
        description, arrays = encoder_state(state["_encoder"])
        state["_encoder"] = {"description": description, "arrays": arrays}
    return state


def from_plain_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that `plain_state` was made from."""
    attributes = dict(state)
    for name in _CLASSES.keys() & state.keys():
        value = state[name]
        if value is None:
            continue
        known = [c for c in _CLASSES[name] if {f.name for f in fields(c)} == {*value}]
        if not known:
            text = f"this is no state of an estimator: {name} has other fields."
            raise ValueError(text)
        attributes[name] = known[0](**value)
    if _TRAINING in state:
        attributes["training"] = Training(**attributes.pop(_TRAINING))
    if "_encoder" in state:
        attributes["_encoder"] = encoder_from_state(**state["_encoder"])
        attributes[_LEFT_OUT] = None
    return attributes
