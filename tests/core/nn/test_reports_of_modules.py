"""Faults that were reported for modules, initializers and files of other libraries, tried here.

| source | subject | here |
|---|---|---|
| tensorflow/tensorflow#18706, keras-team/keras#9963 | truncated values have a lower deviation than is asked for | corrected |
| tensorflow/tensorflow#25564 | `glorot_normal` is truncated, and its pages say otherwise | not truncated |
| keras-team/keras-core#193 | truncated values leave the bounds if mean and deviation are others | within |
| tensorflow/tfjs-core#415 | truncated values are 0 | none is |
| sapientinc/HRM#91 | bounds of truncation are fixed | `bound` |
| Kaixhin/nninit#7, pytorch/pytorch#10672 | orthogonal kernels are not | rows of the kernel as a matrix are |
| jax-ml/jax#1323 | signs of orthogonal matrices are not drawn | both determinants |
| Lasagne/Lasagne#858, tensorflow/tensorflow#31192 | fans of a transposed convolution are exchanged | those of PyTorch |
| Lasagne/Lasagne#49 | fans with channels last are wrong | the same values as with channels first |
| tensorflow/addons#1756 | deltas that keep a signal are missing | `dirac` |
| huggingface/accelerate#2807, #2875 | one of two names of a shared parameter is lost | both load |
| Lightning-AI/pytorch-lightning#688, vllm-project/speculators#739 | a killed save | test_a_crash_between_any_two_steps |
| harvard-edge/cs249r_book#2050 | errors of pickle for damaged files | test_changed_files_are_rejected_or_read |
| microsoft/seismic-deeplearning#127 | a missing file of weights is silent | an error |
| keras-team/keras#5917 | weights of another kind of file: 'layer_names' is missing | an error that names the file |
| zylo117/Yet-Another-EfficientDet-Pytorch#101 | unexpected end of a file | test_truncated_parameter_file_is_rejected |
| k2-fsa/icefall#266 | the state of the sampler is lost in the middle of an epoch | test_training_resumed |
| lukemelas/EfficientNet-PyTorch#330 | weights of a pretrained model are drawn anew each time | the same for a seed |
| tensorflow/tensorflow#62193 | weights alone lose a layer of pre-processing | the file has the pre-processing |
"""

import numpy as np
import pytest

import labdl
from labdl import nn
from labdl.errors import LabDLError
from labdl.nn.initializers import draw


def drawn(text, shape, seed=0):
    return draw(text, shape, "float64", seed, "a/kernel:0")


def test_truncated_values_have_the_deviation_that_is_asked_for():
    values = drawn("variance_scaling(scale=2.0)", (400, 300))
    assert values.std() == pytest.approx(np.sqrt(2 / 400), rel=0.01)
    assert np.abs(drawn("glorot_normal", (400, 300))).max() > 3.5 * np.sqrt(2 / 700)
    moved = drawn("truncated_normal(mean=5.0, std=0.1, bound=1.5)", (200, 200))
    assert 4.85 <= moved.min() < moved.max() <= 5.15
    assert (moved != 5.0).all()


def test_orthogonal_matrices_are_drawn_of_all():
    kernel = drawn("orthogonal", (8, 4, 3, 3)).reshape(8, -1)
    np.testing.assert_allclose(kernel @ kernel.T, np.eye(8), atol=1e-12)
    signs = {round(float(np.linalg.det(drawn("orthogonal", (3, 3), seed)))) for seed in range(20)}
    assert signs == {-1, 1}


def test_fans_of_convolutions():
    torch = pytest.importorskip("torch")
    for ours, theirs in (
        (nn.ConvTranspose2d(16, 3), torch.nn.ConvTranspose2d(4, 16, 3)),
        (nn.Conv2d(16, 3, groups=2), torch.nn.Conv2d(4, 16, 3, groups=2)),
    ):
        ours.build((None, 4, 8, 8), backend="numpy", seed=0)
        limit = float(theirs.weight.detach().abs().max())
        assert float(np.abs(ours.kernel).max()) == pytest.approx(limit, rel=0.05)
    first = nn.Conv2d(8).build((None, 3, 6, 6), backend="numpy", seed=0)
    last = nn.Conv2d(8, data_format="channels_last").build((None, 6, 6, 3), backend="numpy", seed=0)
    np.testing.assert_array_equal(first.state_dict()["kernel:0"], last.state_dict()["kernel:0"])


def test_a_shared_layer_is_saved_once_and_loads(tmp_path):
    class Shared(nn.Module):
        def __init__(self):
            self.first = nn.Linear(4)
            self.second = self.first

        def forward(self, x):
            return self.second(self.first(x))

    model, x = Shared().build((None, 4), backend="numpy", seed=1), np.ones((2, 4), "float32")
    assert len([*model.parameters()]) == 2
    labdl.save(model, tmp_path / "net")
    loaded = labdl.load(tmp_path / "net", backend="numpy")
    np.testing.assert_array_equal(loaded(x), model(x))
    assert len([*loaded.parameters()]) == 2


def test_files_that_are_missing_or_of_another_kind(tmp_path):
    model = nn.Linear(2).build((None, 3), backend="numpy", seed=0)
    with pytest.raises(FileNotFoundError, match="gone"):
        labdl.load_parameters(tmp_path / "gone.npz")
    labdl.save(model, tmp_path / "net")
    with pytest.raises(LabDLError, match="net"):
        labdl.load_checkpoint(model, tmp_path / "net.labdl")


def test_layers_of_one_kind_start_from_other_values_and_each_run_from_the_same():
    models = [nn.Sequential(nn.Linear(4), nn.Linear(4)).build((None, 4), backend="numpy", seed=3) for _ in range(2)]
    first, second = (models[0].state_dict()[f"{at}/kernel:0"] for at in (0, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(models[1].state_dict()["0/kernel:0"], first)
