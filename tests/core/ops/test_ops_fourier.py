"""Fourier transforms against PyTorch."""

import numpy as np
import pytest
import torch

from labdl import ops
from labdl.spec import Spec

RNG = np.random.default_rng(0)
NORMS = ["backward", "ortho", "forward"]


def signal(*shape, dtype="float64"):
    values = RNG.uniform(-2, 2, shape)
    return (values + 1j * RNG.uniform(-2, 2, shape) if "complex" in dtype else values).astype(dtype)


def assert_close(actual, expected, tolerance=1e-12):
    expected = expected.resolve_conj().numpy() if isinstance(expected, torch.Tensor) else np.asarray(expected)
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_axis_as_in_torch(name, norm):
    for dtype in ("float64",) if name in ("rfft", "ihfft") else ("float64", "complex128"):
        x = signal(3, 6, dtype=dtype)
        for n, axis in ((None, -1), (4, -1), (9, 1), (None, 0), (5, 0)):
            expected = getattr(torch.fft, name)(torch.from_numpy(x), n, axis, norm)
            assert_close(getattr(ops, name)(x, n, axis, norm), expected)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_several_axes_as_in_torch(name, norm):
    for dtype in ("float64",) if name == "rfftn" else ("float64", "complex128"):
        x = signal(3, 4, 6, dtype=dtype)
        for s, axes in ((None, None), ((5, 3), None), (None, (0, -1)), ((2, 8), (2, 0)), (None, (1,))):
            expected = getattr(torch.fft, name)(torch.from_numpy(x), s, axes, norm)
            assert_close(getattr(ops, name)(x, s, axes, norm), expected)


def test_two_axes_and_shifts_as_in_torch():
    x = signal(2, 5, 4, dtype="complex128")
    t = torch.from_numpy(x)
    assert_close(ops.fft2(x), torch.fft.fft2(t))
    assert_close(ops.ifft2(x, (3, 6), (0, 2), "ortho"), torch.fft.ifft2(t, (3, 6), (0, 2), "ortho"))
    assert_close(ops.rfft2(x.real), torch.fft.rfft2(t.real))
    assert_close(ops.rfft2(x.real, (3, 6), (0, 2), "ortho"), torch.fft.rfft2(t.real, (3, 6), (0, 2), "ortho"))
    assert_close(ops.irfft2(x), torch.fft.irfft2(t))
    assert_close(ops.irfft2(x, (3, 7), (0, 2), "forward"), torch.fft.irfft2(t, (3, 7), (0, 2), "forward"))
    for axes in (None, 1, (0, 2)):
        assert_close(ops.fftshift(x, axes=axes), torch.fft.fftshift(t, axes))
        assert_close(ops.ifftshift(x, axes=axes), torch.fft.ifftshift(t, axes))


def test_precision_of_the_result():
    assert ops.fft(signal(4, dtype="float32")).dtype == "complex64"
    assert ops.irfft(signal(4, dtype="complex64")).dtype == "float32"
    assert ops.ihfft(signal(4)).dtype == "complex128"
    with pytest.raises(TypeError, match="fft wants x of dtype float32"):
        ops.fft(np.ones(4, "float16"))


@pytest.mark.parametrize(
    ("n_fft", "hop", "window", "center", "normalized", "onesided"),
    [
        (8, None, True, True, False, True),
        (8, 3, True, True, True, True),
        (7, 2, True, False, False, True),
        (6, 6, False, True, False, False),
        (5, 2, False, False, True, False),
        (8, 16, True, True, False, True),
    ],
)
def test_short_time_spectra_as_in_torch(n_fft, hop, window, center, normalized, onesided):
    x, w = signal(3, 40), np.hamming(n_fft) if window else None
    options = {"center": center, "normalized": normalized, "onesided": onesided}
    t, tw = torch.from_numpy(x), torch.from_numpy(w) if window else torch.ones(n_fft, dtype=torch.float64)
    expected = torch.stft(t, n_fft, hop, window=tw, return_complex=True, **options)
    spectra = ops.stft(x, n_fft, hop, w, **options)
    assert_close(spectra, expected)
    assert ops.stft(Spec(x.shape, "float64"), n_fft, hop, w, **options).shape == spectra.shape
    if hop is None or hop <= n_fft:
        for length in (None, 30, 36):
            again = ops.istft(spectra, n_fft, hop, w, length=length, **options)
            assert_close(again, torch.istft(expected, n_fft, hop, window=tw, length=length, **options))
            size = ops.istft(Spec(spectra.shape, "complex128"), n_fft, hop, w, length=length, **options).shape
            assert again.shape == size


def test_padding_of_short_time_spectra():
    x = signal(20)
    padded = np.pad(x, (4, 4), mode="wrap")
    assert_close(ops.stft(x, 8, pad_mode="circular"), ops.stft(padded, 8, center=False))


def test_istft_pads_a_longer_signal_with_zeros():
    x = signal(2, 16)
    again = ops.istft(ops.stft(x, 4), 4, length=20)
    np.testing.assert_allclose(again[:, :16], x)
    assert again.shape == (2, 20)
    assert not again[:, 18:].any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ops.fft(Spec((3,)), norm="none"), "wants norm: one of backward, ortho, forward"),
        (lambda: ops.fft(Spec((3, 0))), "at least 1 element"),
        (lambda: ops.irfft(Spec((1,))), "at least 1 element"),
        (lambda: ops.fftn(Spec((3, 4)), axes=(0, 0)), "different ones"),
        (lambda: ops.fftshift(Spec((None, 4))), "a known size on axis 0"),
        (lambda: ops.stft(Spec((4,)), 8), "more than 4 elements, received 4"),
        (lambda: ops.stft(Spec((4,)), 8, center=False), "at least as many elements, received 4"),
        (lambda: ops.stft(Spec((40,)), 8, window=Spec((6,))), "a window for n_fft=8 has that many"),
        (lambda: ops.istft(Spec((4, 6), "complex64"), 8), r"wants \(..., 5, frames\)"),
    ],
)
def test_error_messages_of_invalid_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_an_unknown_batch_stays_unknown():
    assert ops.stft(Spec((None, 16)), 4) == Spec((None, 3, 17), "complex64")
    assert ops.istft(Spec((None, 3, 17), "complex64"), 4) == Spec((None, 16))
    assert ops.rfftn(Spec((None, 4, 6)), axes=(1, 2)).shape == (None, 4, 4)
    assert ops.fft(Spec((3, None)), n=5).shape == (3, 5)
