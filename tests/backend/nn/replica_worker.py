"""One of two processes that normalize parts of a batch together: ``python replica_worker.py BACKEND RANK FOLDER``."""

import sys
from pathlib import Path

import numpy as np

SETTINGS = {
    "gamma:0": np.array([1, 2, 0.5], "float32"),
    "beta:0": np.array([0, 1, -1], "float32"),
}
PARTS = [slice(0, 3), slice(3, 10)]  # of different sizes


def draw():
    """A batch, and factors of the outputs."""
    rng = np.random.default_rng(0)
    return rng.normal(2, 3, (10, 3, 4)).astype("float32"), rng.normal(size=(10, 3, 4)).astype("float32")


def join_group(backend: str, rank: int, folder: Path) -> int:
    """Start the framework's own group of two processes; returns the rank."""
    if backend == "torch":
        import torch.distributed

        torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/group", rank=rank, world_size=2)
    elif backend == "paddle":
        import paddle.distributed

        paddle.distributed.init_parallel_env()
    else:
        from mindspore import communication

        communication.init("mccl")
        return communication.get_rank()
    return rank


def build(backend: str):
    """The layer in training, and its parameters."""
    from labdl import nn

    layer = nn.SyncBatchNorm().build((None, 3, 4), backend=backend, seed=0).train()
    layer.load_state_dict(SETTINGS, strict=False)
    return layer, [layer.get_parameter(name).value for name in SETTINGS]


def save(path: Path, layer, value, gradients) -> None:
    import labdl

    arrays = {f"gradient{at}": labdl.to_numpy(g) for at, g in enumerate(gradients)}
    state = {name.removesuffix(":0"): array for name, array in layer.state_dict().items()}
    np.savez(path, value=labdl.to_numpy(value), **arrays, **state)


def run_process(backend: str, rank: int, folder: Path) -> None:
    rank = join_group(backend, rank, folder)
    from labdl import dispatch, ops

    owner, (x, factors) = dispatch.get(backend), draw()
    layer, parameters = build(backend)

    def scalar(part, *_):
        return ops.sum(ops.multiply(layer(part), owner.tensor(factors[PARTS[rank]])))

    save(folder / f"{rank}.npz", layer, *owner.gradients(scalar, [owner.tensor(x[PARTS[rank]]), *parameters]))


def run_replicas(folder: Path, *, compiled: bool) -> None:
    """Two replicas of TensorFlow in one process."""
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    from labdl import ops

    layer, parameters = build("tensorflow")
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    def step(part, factors):
        with tf.GradientTape() as tape:
            tape.watch(part)
            value = ops.sum(ops.multiply(layer(part), factors))
        return value, tape.gradient(value, [part, *parameters])

    def distribute(array):
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(array[PARTS[context.replica_id_in_sync_group]])
        )

    def run(*inputs):
        return strategy.run(step, inputs)

    value, gradients = (tf.function(run) if compiled else run)(*map(distribute, draw()))
    local = strategy.experimental_local_results
    for rank in range(2):
        save(folder / f"{rank}.npz", layer, local(value)[rank], [local(g)[rank] for g in gradients])


if __name__ == "__main__":
    name, number, place = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    if name == "tensorflow":
        run_replicas(place, compiled=bool(number))
    else:
        run_process(name, number, place)
