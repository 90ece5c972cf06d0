"""PaddlePaddle implementations of Fourier transforms."""

import paddle


def _spectrum(function):
    def call(x, n=None, axis=-1, norm="backward"):
        return function(x, n, axis, norm)

    return call


fft, ifft, rfft, irfft = map(_spectrum, (paddle.fft.fft, paddle.fft.ifft, paddle.fft.rfft, paddle.fft.irfft))
