"""Weight and spectral normalization in checkpoints of PyTorch: as it writes them now, and as it did before parametrizations."""

import numpy as np
import pytest

import labdl
from labdl import nn, ops

torch = pytest.importorskip("torch")
X = np.random.default_rng(0).normal(size=(2, 3, 9)).astype("float32")


class Vocoder(nn.Module):
    """Kernels of every layout."""

    def __init__(self):
        self.enter = nn.Conv1d(4, weight_norm=0)
        self.widen = nn.ConvTranspose1d(5, 4, stride=2, weight_norm=0)
        self.places = nn.Conv1d(6, weight_norm=2)
        self.head = nn.Linear(7, weight_norm=0)

    def forward(self, x):
        y = self.places(self.widen(self.enter(x)))
        return self.head(ops.permute_dims(y, (0, 2, 1)))


class Native(torch.nn.Module):
    def __init__(self, normalize):
        super().__init__()
        self.enter = normalize(torch.nn.Conv1d(3, 4, 3))
        self.widen = normalize(torch.nn.ConvTranspose1d(4, 5, 4, stride=2))
        self.places = normalize(torch.nn.Conv1d(5, 6, 3), dim=2)
        self.head = normalize(torch.nn.Linear(6, 7))
        for parameter in self.parameters():
            torch.nn.init.normal_(parameter)

    def forward(self, x):
        return self.head(self.places(self.widen(self.enter(x))).transpose(1, 2))


@pytest.fixture
def model():
    return Vocoder().build((None, 3, 9), backend="numpy", seed=0)


def outputs(native):
    return native(torch.tensor(X)).detach().numpy()


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated")
@pytest.mark.parametrize(
    "normalize", [torch.nn.utils.parametrizations.weight_norm, torch.nn.utils.weight_norm], ids=["now", "before"]
)
def test_one_norm_of_a_whole_kernel_loads(normalize, tmp_path):
    """PyTorch keeps it as a tensor without axes."""
    native = torch.nn.Sequential(
        normalize(torch.nn.Conv1d(3, 4, 3), dim=None), normalize(torch.nn.Linear(7, 5), dim=None)
    )
    torch.save(native.state_dict(), tmp_path / "net.pt")
    model = nn.Sequential(nn.weight_norm(nn.Conv1d(4), dim=None), nn.Linear(5, weight_norm="all"))
    labdl.load_checkpoint(model.build((None, 3, 9), backend="numpy", seed=0), tmp_path / "net.pt")
    np.testing.assert_allclose(model(X), outputs(native), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated")
@pytest.mark.parametrize(
    "normalize", [torch.nn.utils.parametrizations.weight_norm, torch.nn.utils.weight_norm], ids=["now", "before"]
)
def test_torchs_files_load(normalize, model, tmp_path):
    native = Native(normalize)
    torch.save(native.state_dict(), tmp_path / "net.pt")
    labdl.load_checkpoint(model, tmp_path / "net.pt")
    np.testing.assert_allclose(model(X), outputs(native), rtol=1e-4, atol=1e-5)


def test_torch_loads_ours(model, tmp_path):
    labdl.save_checkpoint(model, tmp_path / "net.pt")
    native = Native(torch.nn.utils.parametrizations.weight_norm)
    native.load_state_dict(torch.load(tmp_path / "net.pt"))
    np.testing.assert_allclose(outputs(native), model(X), rtol=1e-4, atol=1e-5)


def test_a_parameter_that_is_called_like_earlier_ones_keeps_its_name(tmp_path):
    class Own(nn.Module):
        def __init__(self):
            self.weight_g = nn.Parameter((3,), "ones")

        def forward(self, x):
            return ops.multiply(x, self.weight_g)

    model = Own().build((None, 3), backend="numpy", seed=0)
    torch.save({"weight_g": torch.tensor([1.0, 2.0, 3.0])}, tmp_path / "net.pt")
    assert labdl.load_checkpoint(model, tmp_path / "net.pt").state_dict()["weight_g:0"].tolist() == [1, 2, 3]


class Critic(nn.Module):
    def __init__(self):
        self.enter = nn.Conv1d(4, spectral_norm=1)
        self.widen = nn.ConvTranspose1d(5, 4, stride=2, spectral_norm=1)
        self.head = nn.Linear(7, spectral_norm=1)

    def forward(self, x):
        return self.head(ops.permute_dims(self.widen(self.enter(x)), (0, 2, 1)))


class NativeCritic(torch.nn.Module):
    def __init__(self, normalize):
        super().__init__()
        self.enter = normalize(torch.nn.Conv1d(3, 4, 3))
        self.widen = normalize(torch.nn.ConvTranspose1d(4, 5, 4, stride=2))
        self.head = normalize(torch.nn.Linear(5, 7))

    def forward(self, x):
        return self.head(self.widen(self.enter(x)).transpose(1, 2))


@pytest.mark.filterwarnings("ignore:.*spectral_norm.* is deprecated")
@pytest.mark.parametrize(
    "normalize", [torch.nn.utils.parametrizations.spectral_norm, torch.nn.utils.spectral_norm], ids=["now", "before"]
)
def test_files_with_spectral_normalization_load(normalize, tmp_path):
    critic, native = Critic().build((None, 3, 9), backend="numpy", seed=0).eval(), NativeCritic(normalize)
    for _ in range(9):  # the earlier function starts with random vectors
        outputs(native.train())
    native.eval()
    torch.save(native.state_dict(), tmp_path / "net.pt")
    labdl.load_checkpoint(critic, tmp_path / "net.pt")
    np.testing.assert_allclose(critic(X), outputs(native), rtol=1e-4, atol=1e-5)


def test_torch_loads_ours_with_spectral_normalization(tmp_path):
    critic = Critic().build((None, 3, 9), backend="numpy", seed=0).eval()
    labdl.save_checkpoint(critic, tmp_path / "net.pt")
    native = NativeCritic(torch.nn.utils.parametrizations.spectral_norm).eval()
    native.load_state_dict(torch.load(tmp_path / "net.pt"))
    np.testing.assert_allclose(outputs(native), critic(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "packed"),
    [
        ({}, True),
        ({"use_bias": False}, True),
        ({"key_bias": False}, False),
        ({"output_bias": False}, False),
        ({"use_bias": False, "output_bias": True}, False),
    ],
    ids=str,
)
def test_attention_with_other_biases_has_names_of_its_own(settings, packed, tmp_path):
    """torch.nn.MultiheadAttention packs three biases into one array, and has all or none."""
    model = nn.Sequential(nn.MultiHeadAttention(2, **settings)).build((None, 3, 4), backend="numpy", seed=0)
    labdl.save_checkpoint(model, tmp_path / "net.pt")
    names = set(torch.load(tmp_path / "net.pt"))
    assert ("0.in_proj_weight" in names) is packed
    assert ("0.key.weight" in names) is not packed
    again = nn.Sequential(nn.MultiHeadAttention(2, **settings)).build((None, 3, 4), backend="numpy", seed=1)
    labdl.load_checkpoint(again, tmp_path / "net.pt")
    for key, value in model.state_dict().items():
        np.testing.assert_array_equal(again.state_dict()[key], value)
