"""The judges of a selection: a fixed MLP in plain PyTorch, and boosted trees."""

import numpy as np
import torch
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from torch import Tensor, nn

from tables import Split

HIDDEN, BATCH, MAX_EPOCHS, MAX_STEPS = 256, 256, 40, 4000


def mlp_scores(split: Split, supports: list[np.ndarray], n_seeds: int) -> np.ndarray:
    """Return the test score of a 256-256 MLP on each support, (supports, seeds).

    Accuracy, or minus the mean squared error of the standardised target. AdamW with
    1e-3 and weight decay 2e-4, the epoch that is best on the validation part.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    parts = {name: _tensors(split, name, device) for name in split.X}
    masks = np.repeat(np.stack(supports), n_seeds, axis=0).astype(np.float32)
    n_outputs = 1 if split.is_regression else int(split.y["train"].max()) + 1
    generator = torch.Generator().manual_seed(0)
    model = _Networks(torch.from_numpy(masks), n_outputs, generator).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=2e-4)
    X, y = parts["train"]
    n_batches = -(-len(X) // BATCH)
    best = torch.full((len(masks),), -torch.inf, device=device)
    test = torch.zeros_like(best)
    for _ in range(min(MAX_EPOCHS, max(8, MAX_STEPS // n_batches))):
        for rows in torch.randperm(len(X), generator=generator).split(BATCH):
            rows = rows.to(device)
            loss = _loss(model(X[rows]), y[rows], split.is_regression)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        score = _score(model, *parts["val"], split.is_regression)
        is_better = score > best
        best = torch.where(is_better, score, best)
        now = _score(model, *parts["test"], split.is_regression)
        test = torch.where(is_better, now, test)
    return test.cpu().numpy().reshape(len(supports), n_seeds)


class _Networks(nn.Module):
    """As many MLPs as masks, each seeing its own columns."""

    def __init__(
        self, masks: Tensor, n_outputs: int, generator: torch.Generator
    ) -> None:
        super().__init__()
        n_networks, n_columns = masks.shape
        self.register_buffer("masks", masks.unsqueeze(-1))
        sizes = (n_columns, HIDDEN, HIDDEN, n_outputs)
        self.weights, self.biases = nn.ParameterList(), nn.ParameterList()
        for layer in range(3):
            fan_in, fan_out = sizes[layer], sizes[layer + 1]
            shape = (n_networks, fan_in, fan_out)
            scale = torch.full((n_networks, 1, 1), fan_in**-0.5)
            if layer == 0:  # what matters is how many columns a network sees
                scale = masks.sum(dim=1).clamp_min(1).rsqrt().view(-1, 1, 1)
            draw = torch.rand(shape, generator=generator) * 2 - 1
            self.weights.append(nn.Parameter(draw * scale))
            self.biases.append(nn.Parameter(torch.zeros(n_networks, 1, fan_out)))

    def forward(self, X: Tensor) -> Tensor:
        """Return (networks, rows, outputs)."""
        hidden = torch.matmul(X, self.weights[0] * self.masks) + self.biases[0]
        for layer in (1, 2):
            hidden = torch.baddbmm(
                self.biases[layer], hidden.relu(), self.weights[layer]
            )
        return hidden


def _tensors(split: Split, part: str, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return one part on the device."""
    X = torch.from_numpy(split.X[part].astype(np.float32)).to(device)
    dtype = torch.float32 if split.is_regression else torch.int64
    return X, torch.from_numpy(np.asarray(split.y[part])).to(device, dtype)


def _loss(outputs: Tensor, y: Tensor, is_regression: bool) -> Tensor:
    """Return the sum over networks of the mean loss."""
    if is_regression:
        return (outputs.squeeze(-1) - y).square().mean(dim=1).sum()
    flat = outputs.flatten(0, 1)
    return nn.functional.cross_entropy(flat, y.repeat(len(outputs))) * len(outputs)


@torch.no_grad()
def _score(model: nn.Module, X: Tensor, y: Tensor, is_regression: bool) -> Tensor:
    """Return the score of every network on some rows."""
    total = torch.zeros(len(model.masks), device=X.device)
    for rows in torch.arange(len(X), device=X.device).split(4096):
        outputs = model(X[rows])
        if is_regression:
            total -= (outputs.squeeze(-1) - y[rows]).square().sum(dim=1)
        else:
            total += (outputs.argmax(dim=-1) == y[rows]).sum(dim=1)
    return total / len(X)


def boosted_score(split: Split, support: np.ndarray, seed: int) -> float:
    """Return the test score of scikit-learn's gradient boosting on one support."""
    X = {name: part[:, support] for name, part in split.X.items()}
    if split.is_regression:
        model = HistGradientBoostingRegressor(random_state=seed)
        model.fit(X["train"], split.y["train"])
        residuals = model.predict(X["test"]) - split.y["test"]
        return -float(np.mean(residuals**2))
    model = HistGradientBoostingClassifier(random_state=seed)
    model.fit(X["train"], split.y["train"])
    return float(model.score(X["test"], split.y["test"]))
