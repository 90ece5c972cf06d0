"""Names that users of other frameworks write, and what to write here: for errors of names that do not exist."""

from __future__ import annotations

from typing import Any, NoReturn

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
    },
    "model": {
        "fit": "write labdl.Trainer(model, loss=…, optimizer=…, metrics=[…]).fit(x, y)",
        "compile": "write labdl.Trainer(model, loss=…, optimizer=…, metrics=[…]), which fit(x, y) trains",
        "predict": "write labdl.predict(model, x)",
        "evaluate": "write labdl.Trainer(model, loss=…, metrics=[…]).evaluate(x, y)",
        "cuda": "write model.to('cuda:0')",
    },
    "setting of Trainer": {
        "device": "call labdl.device('cuda:0') before, or model.to('cuda:0')",
        "accelerator": "call labdl.device('cuda:0') before, or model.to('cuda:0')",
        "devices": "call labdl.device('cuda:0') before, or model.to('cuda:0')",
        "max_epochs": "write epochs=…",
        "callbacks": "write fit(…, callbacks=[…])",
        "weight_decay": "write optimizer=labdl.train.AdamW(1e-3, weight_decay=…)",
        "gradient_clip_val": "write clip_norm=…",
        "accumulate_grad_batches": "write accumulate=…",
        "logger": "trainer.start(…) records a run",
    },
    "setting of a zoo model": {
        "pretrained": "write weights=state dict of the published model, see labdl.models.load_public",
    },
}


def hint(where: str, name: str) -> str:
    """The end of an error for a name that a place does not have: what to write here, or ""."""
    advice = _TABLES[where].get(name)
    return "" if advice is None else f": {advice}"


def backend_hint(name: object) -> str:
    """The end of an error for an unknown backend: the name that it has here, or ""."""
    own_name = _BACKENDS.get(name.lower()) if isinstance(name, str) else None
    return "" if own_name is None else f": write {own_name!r}"


def refuse(module: str, name: str) -> NoReturn:
    """Raise AttributeError for a name that a module does not have."""
    raise AttributeError(f"module {module!r} has no attribute {name!r}{hint(module, name)}")


class Elsewhere:
    """An attribute that models of other frameworks have; reading it raises AttributeError with what to write."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        raise AttributeError(f"{owner.__name__!r} object has no attribute {self._name!r}{hint('model', self._name)}")
