import weakref

import pytest
import torch

from featuresieve import (
    AutoNFSClassifier,
    FeatureSieveError,
    OutOfDeviceMemoryError,
    Training,
)
from featuresieve.engine import StackedMLP, explain_out_of_memory
from made_tables import class_table

CPU, CUDA = torch.device("cpu"), torch.device("cuda")

ERRORS = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: "
        "can't allocate memory: you tried to allocate 4000000000000000 bytes."
    ),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate`"),
    RuntimeError("MPS backend out of memory (MPS allocated: 9.00 GB)"),
    MemoryError("Unable to allocate 7.28 PiB for an array"),
]


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_every_kind_of_error_becomes_one_with_advice(error):
    with pytest.raises(OutOfDeviceMemoryError) as caught, explain_out_of_memory(CUDA):
        raise error
    message = str(caught.value)
    assert str(error)[:30] in message
    for advice in ("batch_size", "n_members", 'device="cpu"', "'cuda'"):
        assert advice in message
    assert isinstance(caught.value, FeatureSieveError)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.__cause__ is error


def test_cpu_is_not_advised_to_use_the_cpu_and_other_errors_pass():
    with pytest.raises(OutOfDeviceMemoryError) as caught, explain_out_of_memory(CPU):
        raise MemoryError
    assert 'device="cpu"' not in str(caught.value)
    with pytest.raises(RuntimeError, match="shapes"), explain_out_of_memory(CPU):
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")


def test_network_too_large_for_the_machine_ends_with_advice():
    # 4 petabytes of weights: no machine has them, and asking costs nothing.
    selector = AutoNFSClassifier(
        training=Training(hidden_sizes=(10**7, 10**7)), device="cpu"
    )
    before = dict(vars(selector))
    with pytest.raises(OutOfDeviceMemoryError, match="hidden_sizes"):
        selector.fit(*class_table())
    assert vars(selector) == before


def test_memory_is_free_again_while_the_error_is_held(monkeypatch):
    held = []

    def greedy(*_):
        tensor = torch.zeros(3)
        held.append(weakref.ref(tensor))
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(StackedMLP, "forward", greedy)
    with pytest.raises(OutOfDeviceMemoryError):
        AutoNFSClassifier(training=Training(n_epochs=1)).fit(*class_table())
    assert held[0]() is None
