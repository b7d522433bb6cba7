"""The ResNet18 of the paper's table on images, on made-up digits: no data set is read."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import ndimage

torch = pytest.importorskip("torch", reason="torch is optional; the extra 'bench' brings it")
pytest.importorskip("xgboost", reason="xgboost is optional; the extra 'bench' brings it")

from benchmarks.paper import resnet  # noqa: E402

SIZES = (200, 80, 80)


@pytest.fixture(scope="module")
def digits():
    """Bars are ones and rings are noughts, with pixels from 0 to 255, as MNIST has them."""
    rng = np.random.default_rng(0)
    across, down = np.meshgrid(np.arange(28) - 13.5, np.arange(28) - 13.5)
    y = rng.integers(0, 2, 500)
    shifts = rng.normal(0, 2, (500, 1, 1))
    bar = np.exp(-np.square(across - shifts) / 4) * (np.abs(down) < 10)
    ring = np.exp(-np.square(np.hypot(across - shifts, down) - 8) / 4)
    images = np.where((y == 1)[:, None, None], bar, ring) + rng.normal(0, 0.1, (500, 28, 28))
    X = (255 * np.clip(images, 0, 1)).reshape(500, 784).astype(np.float32)
    return SimpleNamespace(X=X, y=y)


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return resnet.ResNet18()


def test_four_stages_of_two_blocks_give_512_features(network):
    blocks = [one for one in network.trunk if isinstance(one, resnet.BasicBlock)]
    widths = [one.residual[0].out_channels for one in blocks]
    assert widths == [64, 64, 128, 128, 256, 256, 512, 512]
    # Weighted layers of the main path: the stem, two to a block, and the head.
    assert 1 + 2 * len(blocks) + 1 == 18
    assert resnet.features(network, np.zeros((3, 28, 28))).shape == (3, 512)
    # As published, with one channel in place of three and one output in place of 1,000.
    n_weights = sum(one.numel() for one in network.parameters())
    assert n_weights == 11_689_512 - 2 * 64 * 49 - 999 * 513


def test_every_weight_is_moved_by_its_gradient(network):
    network.train()
    network(torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(0))).sum().backward()
    still = [name for name, one in network.named_parameters() if not one.grad.abs().sum() > 0]
    network.zero_grad()
    assert not still


@pytest.mark.parametrize(("side", "stride"), [(1, 1), (2, 1), (2, 2), (3, 2), (4, 2), (5, 1)])
def test_convolutions_of_tiny_maps_are_convolutions(side, stride):
    torch.manual_seed(0)
    ours = resnet.Convolution(3, 5, stride).double()
    x = torch.randn(4, 3, side, side, dtype=torch.float64, requires_grad=True)
    theirs = torch.nn.functional.conv2d(x, ours.weight, stride=stride, padding=1)
    torch.testing.assert_close(ours(x), theirs)
    towards = torch.randn_like(theirs)
    for wanted in (x, ours.weight):
        (gradient,) = torch.autograd.grad(ours(x), wanted, towards, retain_graph=True)
        (expected,) = torch.autograd.grad(theirs, wanted, towards, retain_graph=True)
        torch.testing.assert_close(gradient, expected)


def test_the_prediction_is_the_linear_head_on_the_features(network):
    images = np.random.default_rng(1).random((6, 28, 28))
    weight, bias = (one.detach().numpy().astype(float) for one in network.head.parameters())
    score = resnet.features(network, images) @ weight[0] + bias[0]
    probability = resnet.probabilities(network, images)
    np.testing.assert_allclose(probability, 1 / (1 + np.exp(-score)), rtol=1e-12)
    network.eval()
    whole = network(resnet.to_tensor(images)).detach().numpy()
    np.testing.assert_allclose(whole, score, rtol=1e-4, atol=1e-4)


def test_images_are_turned_one_by_one_as_scipy_turns_them(digits):
    images = digits.X[:3].reshape(3, 28, 28) / 255
    for ours, image in zip(resnet.rotate(images), images, strict=True):
        theirs = ndimage.rotate(image, 20, reshape=False, order=1)
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_images_are_turned_counter_clockwise():
    hand = np.zeros((1, 28, 28))
    hand[0, 13:15, 14:] = 1  # points to the right
    (turned,) = resnet.rotate(hand)
    row, column = ndimage.center_of_mass(turned)
    angle = np.degrees(np.arctan2(13.5 - row, column - 13.5))
    assert angle == pytest.approx(20, abs=1)


class TestParts:
    @pytest.fixture(scope="class")
    @staticmethod
    def places():
        """Images that say where they came from: the place in all pixels."""
        n = 500
        X = np.repeat(np.arange(n, dtype=float)[:, None], 784, axis=1)
        return SimpleNamespace(X=X, y=np.arange(n) % 10)

    def drawn(self, places, seed):
        parts = resnet.draw_parts(places.X, places.y, SIZES, seed)
        # The middle of an image of one grey is that grey, turned or not.
        found = [
            np.rint(255 * one.X[:, 14, 14]).astype(int)
            for one in (parts.train, parts.validation, parts.test)
        ]
        return parts, found

    def test_are_disjoint_and_labelled(self, places):
        parts, found = self.drawn(places, 0)
        assert tuple(map(len, found)) == SIZES
        assert len(np.unique(np.concatenate(found))) == sum(SIZES)
        for one, where in zip((parts.train, parts.validation, parts.test), found, strict=True):
            np.testing.assert_array_equal(one.y, places.y[where] == 1)

    def test_all_but_the_test_images_are_turned(self, places):
        parts, _ = self.drawn(places, 0)
        corners = [one.X[:, 0, 0] for one in (parts.train, parts.validation, parts.test)]
        assert not corners[0].any()
        assert not corners[1].any()
        assert (corners[2] > 0).mean() > 0.9

    def test_are_the_seeds(self, places):
        parts, found = self.drawn(places, 3)
        again, found_again = self.drawn(places, 3)
        other, _ = self.drawn(places, 4)
        assert parts.split == again.split != other.split
        assert len(parts.split) == 16
        np.testing.assert_array_equal(found[0], found_again[0])

    def test_too_few_images_are_refused(self, places):
        with pytest.raises(ValueError, match="600 images are to be drawn, and there are 500"):
            resnet.draw_parts(places.X, places.y, (400, 100, 100), 0)


def test_a_replication_has_four_rows_and_is_its_seeds(digits, monkeypatch):
    monkeypatch.setattr(resnet, "load", lambda name: digits)
    monkeypatch.setattr(resnet, "SMALL", replace(resnet.SMALL, sizes=SIZES, width=4))
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    rows, again = (resnet.replicate(7, small=True) for _ in range(2))
    assert [row["model"] for row in rows] == [
        "ResNet18", "ResNet18_LIFE", "ResNet18_XGBoost", "ResNet18_Adam",
    ]  # fmt: skip
    for row, same in zip(rows, again, strict=True):
        assert (row["table"], row["data"], row["seed"]) == ("MNIST_ResNet18", "MNIST", 7)
        assert (row["n_train"], row["n_test"]) == (SIZES[0], SIZES[2])
        assert 0 <= row["second"] <= 1
        assert np.isfinite(row["error"])
        assert {**row, "seconds": 0, "cpu": 0} == {**same, "seconds": 0, "cpu": 0}
    assert [row["neurons"] is None for row in rows] == [True, False, True, False]
    assert rows[1]["second"] > 0.9
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_the_network_is_trained_to_the_end_and_its_losses_fall(digits):
    plan = replace(resnet.SMALL, sizes=SIZES, width=4, n_epochs=6)
    parts = resnet.draw_parts(digits.X, digits.y, SIZES, 0)
    network, fit = resnet.train(parts, plan, 0)
    loss = resnet._log_loss(parts.validation.y, resnet.probabilities(network, parts.validation.X))
    assert loss == pytest.approx(fit.params["validation"], rel=1e-9)
    losses = fit.params["losses"]
    assert len(losses) == fit.params["epochs"] == 6
    assert losses[-1] < 0.5 * losses[0]


def test_images_of_the_test_part_have_no_part_in_training(digits):
    plan = replace(resnet.SMALL, sizes=SIZES, width=4)
    parts = resnet.draw_parts(digits.X, digits.y, SIZES, 0)
    other = replace(parts, test=resnet.Part(parts.test.X[::-1].copy(), 1 - parts.test.y))
    one, two = (resnet.train(some, plan, 0)[0] for some in (parts, other))
    found = [resnet.probabilities(network, parts.validation.X) for network in (one, two)]
    np.testing.assert_array_equal(*found)
