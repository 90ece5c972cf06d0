"""Samplers: the indices of each epoch as a pure function of seed and epoch, so that a run resumes at any position."""

from labdl.data.samplers.batch import BatchSampler, BucketSampler, DistributedBatchSampler
from labdl.data.samplers.sampler import (
    ClassBalancedSampler,
    DistributedSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "BucketSampler",
    "ClassBalancedSampler",
    "DistributedBatchSampler",
    "DistributedSampler",
    "PKSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
]
