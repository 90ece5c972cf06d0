"""Samples of streams mixed within a buffer: compared with the samples themselves, for any buffer, place and pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labdl import data
from labdl.data import transforms as T
from labdl.errors import DataError


@T.transform
class Partners(T.Transform):
    """The numbers of a sample and of the three that it is mixed with."""

    others = 3

    p: float = 1.0

    def apply_alone(self, sample):
        return [sample]

    def apply_together(self, samples, rng):
        return list(samples)


def numbers(count):
    return data.IterableDataset(lambda: iter(range(count)))


def pictures(count):
    """White pictures of numbers, whose labels are those numbers."""
    for i in range(count):
        yield np.full((2, 2, 1), float(i), "float32"), i


@settings(max_examples=60, deadline=None)
@given(count=st.integers(0, 30), buffer=st.integers(1, 12), seed=st.integers(0, 3), epoch=st.integers(0, 2))
def test_partners_are_of_the_next_samples_or_the_last(count, buffer, seed, epoch):
    stream = numbers(count).map([lambda i: i * 10, Partners()], buffer_size=buffer, seed=seed)
    mixed = list(stream.read(epoch))
    assert [own for own, *_ in mixed] == [i * 10 for i in range(count)]
    for i, (_, *partners) in enumerate(mixed):
        first = max(0, min(i, count - buffer))
        assert {partner // 10 for partner in partners} <= set(range(first, min(first + buffer, count)))
    assert mixed == list(stream.read(epoch))
    # a sample is the same whatever was read before
    assert all(list(stream.skip(start).read(epoch)) == mixed[start:] for start in range(0, count, 5))


def test_each_of_the_buffer_is_drawn_equally_often():
    stream = numbers(4000).map(Partners(), buffer_size=8)
    ahead = [partner - own for own, *partners in stream.take(3900) for partner in partners]
    counts = np.bincount(ahead, minlength=8)
    assert len(counts) == 8
    expected = len(ahead) / 8
    assert ((counts - expected) ** 2 / expected).sum() < 24.3  # chi-square with 7 degrees of freedom, 0.1 %
    others = list(stream.read(1)), list(numbers(4000).map(Partners(), buffer_size=8, seed=1))
    assert len({str(list(stream)), *map(str, others)}) == 3


def test_mixup_of_pictures_keeps_the_share_of_each_label():
    mix = T.MixUp(num_classes=100, p=0.5)
    stream = data.IterableDataset(lambda: pictures(100)).map([mix, T.ToFloat()], buffer_size=10)
    mixed = list(stream)
    for image, row in mixed:
        assert row.sum() == pytest.approx(1)
        np.testing.assert_allclose(image, np.full((2, 2, 1), row @ np.arange(100)), rtol=1e-4, atol=1e-3)
    assert 30 < sum(row.max() < 1 for _, row in mixed) < 60


def test_two_mixes_draw_other_numbers_and_maps_between_them_are_applied():
    stream = numbers(200).map([Partners(), lambda group: group[1] - group[0], Partners()], buffer_size=50)
    first = [b - a for a, b, *_ in numbers(200).map(Partners(), buffer_size=50)]
    second = list(stream)
    assert [own for own, *_ in second] == first
    places = [first.index(partner, i) - i if partner in first[i:] else -1 for i, (_, partner, *_) in enumerate(second)]
    assert places[:150] != first[:150]


@pytest.mark.parametrize("workers", [0, 2])
def test_resumed_loaders_give_the_same_batches(workers):
    def loader():
        stream = numbers(23).shuffle(7, seed=2).map([Partners(), np.array], buffer_size=5)
        return stream.loader(4, steps_per_epoch=5, workers=workers, drop_last=True)

    whole = loader()
    batches = [b.tolist() for epoch in range(3) for b in whole.epoch(epoch)]
    for epoch, start in ((0, 3), (1, 0), (2, 4)):
        assert [b.tolist() for b in loader().epoch(epoch, start)] == batches[5 * epoch + start : 5 * (epoch + 1)]


def test_length_end_and_errors_are_those_of_the_stream():
    stream = data.IterableDataset(range(9)).map(Partners(), buffer_size=4)
    assert (stream.length, stream.endless, stream.finite, len(list(stream))) == (9, False, True, 9)
    assert numbers(3).repeat().map(Partners(), buffer_size=4).endless
    assert len(list(numbers(3).repeat().map(Partners(), buffer_size=40).take(100))) == 100
    broken = data.IterableDataset(lambda: pictures(9)).map(T.MixUp(), buffer_size=4)
    with pytest.raises(DataError, match=r"sample 0 of .*num_classes"):
        next(iter(broken))
    once = data.IterableDataset(iter(range(9))).map(Partners(), buffer_size=4)
    assert once.peek()[0] == 0
    assert [own for own, *_ in once.open()] == list(range(9))


def test_fewer_samples_than_the_buffer_are_mixed_among_themselves():
    assert all(set(group) <= {0, 1, 2} for group in numbers(3).map(Partners(), buffer_size=1000))
    assert list(numbers(0).map(Partners(), buffer_size=3)) == []
