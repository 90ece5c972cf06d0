"""Names that users of other frameworks write, and what to write here: for errors of names that do not exist."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NoReturn, TypeVar

from labdl.habits_of_trainers import TRAININGS

Kind = TypeVar("Kind", bound=type)

# other names of backends
_BACKENDS = {
    "pytorch": "torch",
    "tf": "tensorflow",
    "keras": "tensorflow",
    "paddlepaddle": "paddle",
    "ms": "mindspore",
}

# by the place where the name is missing
_TABLES: dict[str, dict[str, str]] = {
    "labdl": {
        "optim": "labdl.train has the optimizers, such as labdl.train.Adam(1e-3), or write Trainer(model, optimizer='adam')",
        "optimizers": "labdl.train has the optimizers, such as labdl.train.Adam(1e-3)",
        "seed_everything": "write labdl.seed(…)",
        "set_seed": "write labdl.seed(…)",
        "manual_seed": "write labdl.seed(…)",
        "LightningModule": "write a subclass of labdl.nn.Module, and labdl.Trainer(model, loss=…, optimizer=…)",
        "LightningDataModule": "give fit the data: fit(train, validation=…)",
        "Sequential": "write labdl.nn.Sequential(…)",
        "Model": "write a subclass of labdl.nn.Module",
        "Module": "write a subclass of labdl.nn.Module",
        "Dense": "write labdl.nn.Linear(units)",
        "DataLoader": "write labdl.data.Loader(data, batch_size)",
        "Dataset": "labdl.data has the data sets; any object with a length and samples is one",
        "summary": "write print(model.summary())",
        "compile": "write labdl.Trainer(model, compiled=True)",
        "cuda": "write labdl.device('cuda:0')",
        "enable_op_determinism": "write labdl.use_deterministic_algorithms()",
        "layers": "labdl.nn has the layers",
        "losses": "labdl.nn has the losses, such as labdl.nn.CrossEntropyLoss()",
        "metrics": "labdl.train.metrics has the metrics, or write Trainer(model, metrics=['accuracy'])",
        "callbacks": "write a subclass of labdl.train.Callback, or use labdl.train.EarlyStopping and Checkpoint",
        "utils": "labdl.data has the data sets and loaders",
    },
    "labdl.ops": {
        "cat": "write ops.concat((x, y), axis=…)",
        "concatenate": "write ops.concat((x, y), axis=…)",
        "view": "write ops.reshape(x, shape)",
        "unsqueeze": "write ops.expand_dims(x, axis)",
        "permute": "write ops.permute_dims(x, axes)",
        "transpose": "write ops.permute_dims(x, axes)",
        "mm": "write ops.matmul(x, y)",
        "bmm": "write ops.matmul(x, y)",
        "mul": "write ops.multiply(x, y)",
        "sub": "write ops.subtract(x, y)",
        "div": "write ops.divide(x, y)",
        "reduce_mean": "write ops.mean(x, axis=…)",
        "reduce_sum": "write ops.sum(x, axis=…)",
    },
    "labdl.nn": {"functional": "the functions are in labdl.ops, such as ops.relu(x)"},
    "labdl.train": {
        "ModelCheckpoint": "write fit(…, checkpoint=labdl.train.Checkpoint(folder, monitor='val_loss'))",
        "ReduceLROnPlateau": "write Trainer(model, schedule=labdl.train.ReduceOnPlateau())",
        "LearningRateScheduler": "write Trainer(model, schedule=function of the step), or one of labdl.train.SCHEDULES",
        "LambdaCallback": "write fit(…, callbacks=[function of an event])",
        "CSVLogger": "runs of trainer.start are recorded: labdl.runs.open(folder).to_csv(path)",
        "TensorBoard": "runs of trainer.start are recorded: labdl.runs.open(folder).to_tensorboard(folder)",
        "TerminateOnNaN": "a training ends by itself where a loss is not finite, with the layer",
        "BackupAndRestore": "write fit(…, checkpoint=folder, resume=True)",
        "ProgbarLogger": "fit shows the progress by itself",
        "TQDMProgressBar": "fit shows the progress by itself",
        "RichProgressBar": "fit shows the progress by itself",
        "ModelSummary": "write print(model.summary())",
        "History": "fit returns the history",
        "TensorBoardLogger": "runs of trainer.start are recorded: labdl.runs.open(folder).to_tensorboard(folder)",
        "WandbLogger": "runs of trainer.start are recorded, and functions in callbacks=[…] get each event",
        "LearningRateMonitor": "runs of trainer.start record the learning rate",
        "LearningRateFinder": "write trainer.find_learning_rate(x, y).suggestion()",
        "StochasticWeightAveraging": "write Trainer(model, average=labdl.train.SWA())",
        "EMAWeightAveraging": "write Trainer(model, average=labdl.train.EMA(0.999))",
        "WeightAveraging": "write Trainer(model, average=labdl.train.EMA(0.999)), or SWA()",
        "SwapEMAWeights": "write Trainer(model, average=labdl.train.EMA(0.999))",
        "Timer": "write Trainer(model, max_time='DD:HH:MM:SS')",
        "DeviceStatsMonitor": "trainer.profile(x, y) measures where the time goes",
        "BackboneFinetuning": "write Trainer(model, freeze='encoder/*'), then another trainer without it",
        "GradientAccumulationScheduler": "write Trainer(model, accumulate=…), the same in all epochs",
        "BatchSizeFinder": "choose batch_size, an error of too little memory says what to write",
        "SaveModelCallback": "write fit(…, checkpoint=labdl.train.Checkpoint(folder, monitor='val_loss'))",
        "EarlyStoppingCallback": "write labdl.train.EarlyStopping(patience=…)",
        "GradientClip": "write Trainer(model, clip_norm=…)",
        "MixedPrecision": "write Trainer(model, precision='float16'), or 'bfloat16'",
        "Learner": "write labdl.Trainer(model, loss=…, metrics=[…]).fit(x, y)",
        "LambdaLR": "write Trainer(model, schedule=function of the step that returns a factor)",
        "StepLR": "write labdl.train.StepDecay(…)",
        "MultiStepLR": "write labdl.train.MultiStep(…)",
        "PiecewiseConstantDecay": "write labdl.train.MultiStep(…)",
        "ExponentialLR": "write labdl.train.ExponentialDecay(…)",
        "PolynomialLR": "write labdl.train.PolynomialDecay(…)",
        "LinearLR": "write labdl.train.Linear(…), or LinearWarmup(…)",
        "CosineAnnealingLR": "write labdl.train.CosineDecay(…)",
        "CosineAnnealingWarmRestarts": "write labdl.train.CosineRestarts(…)",
        "CosineDecayRestarts": "write labdl.train.CosineRestarts(…)",
        "OneCycleLR": "write labdl.train.OneCycle(…)",
        "CyclicLR": "write labdl.train.Cyclic(…)",
        "SequentialLR": "write labdl.train.Sequential(…)",
        "Nadam": "write labdl.train.NAdam(…)",
        "RMSProp": "write labdl.train.RMSprop(…)",
    },
    "model": {
        "fit": "write labdl.Trainer(model, loss=…, optimizer=…, metrics=[…]).fit(x, y)",
        "compile": "write labdl.Trainer(model, loss=…, optimizer=…, metrics=[…]), which fit(x, y) trains",
        "predict": "write labdl.predict(model, x)",
        "evaluate": "write labdl.Trainer(model, loss=…, metrics=[…]).evaluate(x, y)",
        "cuda": "write model.to('cuda:0')",
        "cpu": "write model.to('cpu')",
        "half": "write Trainer(model, precision='float16')",
        "train_on_batch": "write labdl.Trainer(model, loss=…).train_one_batch(x, y)",
        "test_on_batch": "write labdl.Trainer(model, loss=…).evaluate(x, y)",
        "predict_on_batch": "write labdl.predict(model, x)",
        "predict_proba": "write labdl.predict(model, x), and ops.softmax of it for a model of logits",
        "save": "write labdl.save(model, path)",
        "save_weights": "write labdl.save_parameters(model, path)",
        "load_weights": "write model.load_state_dict(labdl.load_parameters(path))",
        "get_weights": "write model.state_dict()",
        "set_weights": "write model.load_state_dict(values)",
        "count_params": "write print(model.summary())",
        "zero_grad": "write nothing, each step of a Trainer has its own gradients",
        "load_from_checkpoint": "write labdl.load(folder of the checkpoint / 'model')",
    },
    "parameter": {
        "grad": "parameter.value is the framework's own variable, with parameter.value.grad on PyTorch and PaddlePaddle; "
        "parameter.gradient is the sum of model.backward()",
        "data": "write parameter.value, the framework's own variable, or model.state_dict() for arrays",
        "numpy": "write labdl.to_numpy(parameter.value)",
        "assign": "write model.load_state_dict({name: array}, strict=False)",
    },
    # methods and attributes; those with the name of an operator have no line
    "tensor": {
        "view": "ops.reshape(x, shape)",
        "view_as": "ops.reshape(x, y.shape)",
        "reshape_as": "ops.reshape(x, y.shape)",
        "ravel": "ops.reshape(x, (-1,))",
        "unflatten": "ops.reshape(x, shape)",
        "unsqueeze": "ops.expand_dims(x, axis)",
        "permute": "ops.permute_dims(x, axes)",
        "transpose": "ops.swapaxes(x, 0, 1), or ops.permute_dims(x, axes)",
        "t": "ops.matrix_transpose(x)",
        "T": "ops.permute_dims(x, axes)",
        "mT": "ops.matrix_transpose(x)",
        "swapdims": "ops.swapaxes(x, 0, 1)",
        "movedim": "ops.moveaxis(x, 0, 1)",
        "expand": "ops.broadcast_to(x, shape)",
        "expand_as": "ops.broadcast_to(x, y.shape)",
        "repeat": "ops.tile(x, repetitions), or ops.repeat(x, repeats, axis=…) for each element",
        "repeat_interleave": "ops.repeat(x, repeats, axis=…)",
        "chunk": "ops.split(x, parts, axis=…)",
        "tensor_split": "ops.split(x, parts, axis=…)",
        "unbind": "ops.unstack(x, axis=…)",
        "select": "x[:, index]",
        "narrow": "x[:, start : start + length]",
        "index_select": "ops.take(x, indices, axis=…)",
        "gather": "ops.take_along_axis(x, indices, axis=…)",
        "take_along_dim": "ops.take_along_axis(x, indices, axis=…)",
        "mm": "ops.matmul(x, y)",
        "bmm": "ops.matmul(x, y)",
        "mv": "ops.matmul(x, y)",
        "dot": "ops.vecdot(x, y)",
        "add": "x + y",
        "sub": "x - y",
        "mul": "x * y",
        "div": "x / y",
        "neg": "-x",
        "eq": "x == y",
        "ne": "x != y",
        "lt": "x < y",
        "le": "x <= y",
        "gt": "x > y",
        "ge": "x >= y",
        "clamp": "ops.clip(x, low, high)",
        "norm": "ops.vector_norm(x, axis=…)",
        "cumsum": "ops.cumulative_sum(x, axis=…)",
        "cumprod": "ops.cumulative_prod(x, axis=…)",
        "amax": "ops.max(x, axis=…)",
        "amin": "ops.min(x, axis=…)",
        "size": "x.shape[axis]",
        "dim": "x.ndim",
        "get_shape": "x.shape",
        "numel": "the product of x.shape",
        "nelement": "the product of x.shape",
        "float": "ops.astype(x, 'float32')",
        "double": "ops.astype(x, 'float64')",
        "half": "ops.astype(x, 'float16')",
        "long": "ops.astype(x, 'int64')",
        "int": "ops.astype(x, 'int32')",
        "bool": "ops.astype(x, 'bool')",
        "type": "ops.astype(x, dtype)",
        "type_as": "ops.astype(x, y.dtype)",
        "cast": "ops.astype(x, dtype)",
        "to": "ops.astype(x, dtype); the device is that of the model",
        "cuda": "nothing: tensors are on the device of the model",
        "cpu": "nothing: tensors are on the device of the model",
        "device": "nothing: tensors are on the device of the model",
        "contiguous": "nothing: the layout in memory is the framework's",
        "clone": "nothing: operators change no tensor in place",
        "detach": "ops.stop_gradient(x)",
        "data": "ops.stop_gradient(x)",
        "requires_grad": "ops.stop_gradient(x) for a tensor without a gradient",
        "new_zeros": "ops.zeros_like(x)",
        "new_ones": "ops.ones_like(x)",
        "masked_scatter": "ops.where(mask, y, x)",
        **dict.fromkeys(
            ("numpy", "item", "tolist", "asnumpy"), "functions of labdl.ops: a forward reads no values of tensors"
        ),
    },
    "setting of a zoo model": {
        "pretrained": 'write weights="torchvision", or another of labdl.models.weights.list_weights(name)',
    },
    **TRAININGS,
}


def hint(where: str, name: str) -> str:
    """The end of an error for a name that a place does not have: what to write here, or ""."""
    advice = _TABLES[where].get(name)
    return "" if advice is None else f": {advice}"


def backend_hint(name: object) -> str:
    """The end of an error for an unknown backend: the name that it has here, or ""."""
    own_name = _BACKENDS.get(name.lower()) if isinstance(name, str) else None
    return "" if own_name is None else f": write {own_name!r}"


def advice_for_tensor(name: str, operators: Collection[str]) -> str:
    """Advice for a forward that uses a method or an attribute that only the tensors of one framework have."""
    advice = _TABLES["tensor"].get(name)
    if advice is not None:
        return f"write {advice}"
    if name in operators:
        return f"write ops.{name}(x, …)"
    return _TABLES["labdl.ops"].get(name, "labdl.ops has the functions of tensors")


def refuse(module: str, name: str) -> NoReturn:
    """Raise AttributeError for a name that a module does not have."""
    raise AttributeError(f"module {module!r} has no attribute {name!r}{hint(module, name)}")


class Elsewhere:
    """An attribute that classes of other frameworks have; reading it raises AttributeError with what to write.

    ``where`` is the place in the tables of this module.
    """

    def __init__(self, where: str):
        self._where = where

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(
            f"{owner.__name__!r} object has no attribute {self._name!r}{hint(self._where, self._name)}"
        )


def refuse_attributes(where: str) -> Callable[[Kind], Kind]:
    """Let a class refuse the names of a table, unless it has them: see `Elsewhere`."""

    def decorate(cls: Kind) -> Kind:
        for name in _TABLES[where]:
            attribute = Elsewhere(where)
            attribute.__set_name__(cls, name)
            setattr(cls, name, attribute)
        return cls

    return decorate


def uncalled_methods(cls: type, base: type) -> str:
    """Advice for the methods of a class, below its base, that another trainer would call; "" without any."""
    own = [name for name in _TABLES["method that is not called"] if _defines(cls, base, name)]
    return "; ".join(f"for {name}: {_TABLES['method that is not called'][name]}" for name in own)


def _defines(cls: type, base: type, name: str) -> bool:
    below = cls.__mro__[: cls.__mro__.index(base)]
    return any(name in each.__dict__ for each in below)


def moments(cls: type) -> list[str]:
    """Advice for the methods of a class of callbacks that are moments in other frameworks."""
    table = _TABLES["moment of a callback"]
    return [f"{name} is {table[name]}" for name in cls.__dict__ if name in table]
