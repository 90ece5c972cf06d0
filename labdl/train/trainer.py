"""The trainer: model, loss, optimizer and metrics, and training as a generator of events."""

from __future__ import annotations

import dataclasses
import functools
import math
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from labdl import habits
from labdl.errors import ConfigError
from labdl.graph.graph import Graph
from labdl.keywords import show_keywords
from labdl.nn.eval_mode import eval_mode
from labdl.nn.module import Module
from labdl.runs.metadata import check_name, write_about
from labdl.runs.reading import values as limits
from labdl.train import config, failures, losses
from labdl.train.aliases import TRAINER, full_names
from labdl.train.binding import convert, ignored_target
from labdl.train.class_names import class_names_of
from labdl.train.context import OVERRIDABLE, TrainContext
from labdl.train.data_adapter import as_batch, as_dataset
from labdl.train.ema import EMA
from labdl.train.evaluation import evaluate
from labdl.train.events import Event, Text
from labdl.train.interruption import Interruption
from labdl.train.loop import Loop
from labdl.train.measurements import Measurements
from labdl.train.optimizers import Optimizer
from labdl.train.optimizers import optimizer as find_optimizer
from labdl.train.options import TrainerOptions, TrainingOptions, check_keywords, training_options
from labdl.train.report import PerClass, Report
from labdl.train.resumable import ResumableState
from labdl.train.run.groups import membership
from labdl.train.schedules import Schedule
from labdl.train.schedules import schedule as find_schedule
from labdl.train.starting import loop_for_epoch, start_loop
from labdl.train.state import TrainState
from labdl.train.train_step import to_arrays, train_step
from labdl.train.weighted_loss import targets_of

if TYPE_CHECKING:
    from labdl.infer.predict import Predictor
    from labdl.train.config import TrainerSettings
    from labdl.train.metrics import Metric
    from labdl.train.run.run import Run


@habits.refuse_attributes("method of Trainer")
class Trainer(ResumableState, Measurements):
    """Trains a model on the backend that holds its parameters.

    ``loss`` is a name, a layer such as ``nn.CrossEntropyLoss(label_smoothing=0.1)`` or a function (output, target); ``metrics``
    are names, objects such as ``labdl.train.metrics.TopKAccuracy(k=5)``, or functions (output, target); ``optimizer`` is a
    name or settings such as ``labdl.train.Adam(1e-3)``, ``learning_rate`` (or ``lr``) its learning rate, and ``schedule`` the
    schedule of that, a name or an object
    such as ``labdl.train.CosineDecay()``. Each may be a dictionary, as in files: ``{"name": "adam", "learning_rate": 1e-3}``.
    ``{"embedding/*": SGD(0.1), "*": Adam(1e-3)}`` are optimizers by patterns of parameters, see `labdl.train.Optimizer`.
    A model of several outputs has a loss for each, ``{"label": "cross_entropy", "mask": "dice"}`` for outputs and targets that
    are dictionaries, a list for tuples, and metrics alike, ``{"label": ["accuracy"]}``. Their sum is minimized, or that of
    ``loss_weights``, ``{"mask": 0.5}``, 1 for those left out; it also weights the losses by name of an own `loss`.
    ``compiled`` is True, False, or None for the default of the backend.

    ``accumulate=k`` accumulates the gradients of k batches for each update: a step then consists of k batches, and its loss is
    that of one large batch, also where targets are ignored or weighted; a loss of one's own counts by the number of samples.
    ``clip_norm`` and ``clip_value`` limit gradients, ``gradient_norm=True`` records their norm, ``keep_gradients=True`` stores
    those of the last update for `gradients`. ``precision`` "bfloat16" or "float16" is mixed precision
    (see `labdl.ops.precision.mixed`), the latter with loss scaling. ``freeze`` names parameters that are not trained
    ("encoder/*"). ``gradient_checkpointing`` names modules ("blocks/*") whose intermediate results are computed again for
    the gradient instead of kept, which takes less memory and about a third more time (Chen et al., 2016), on PyTorch and
    PaddlePaddle. ``average=EMA(0.999)`` or ``SWA()`` averages the parameters; ``stopping=EarlyStopping()`` enables early
    stopping. ``val_check_interval`` validates within epochs too, every so many steps, or after each such share of an epoch;
    early stopping and the best checkpoint then go by each validation. ``check_val_every_n_epoch`` validates each n-th epoch
    only. ``max_steps`` ends the training after so many steps; without ``epochs`` it goes on until then. ``max_time``, such as
    "00:12:00:00" (days, hours, minutes, seconds) or ``{"hours": 12}``, ends each call of `fit` after the step in which it is
    over. ``limit_train_batches`` and ``limit_val_batches`` leave the first batches of each epoch, a number or a share,
    ``drop_last`` leaves out the last batch of an epoch if it is smaller. ``fast_dev_run`` trains and validates with one
    batch, or so many, without checkpoints and early stopping, to find mistakes. As in Lightning; these numbers count steps.
    ``health`` is the share of its time that a run in the background may spend on layer statistics (`labdl.train.Health`,
    `Histograms`) and on monitoring validations (`Predictions`, `Confusion`, `Worst`), half of it each, without any effect on
    the training; 0 disables them.
    ``train_dataset``, ``val_dataset``, ``epochs``, ``batch_size``, ``shuffle``, ``checkpoint`` and ``output_dir``, the folder
    of a run, are the defaults of `fit` and `start`.

    These methods may be overridden: `preprocess`, `forward`, `loss`, `backward`, `update`, `postprocess`, `evaluate`,
    `phases`.

    Raises ConfigError for an unknown setting or an invalid value.
    """

    @show_keywords(config.TrainerSettings)
    def __init__(
        self,
        model: Module | Graph,
        loss="cross_entropy",
        optimizer: str | Optimizer | Mapping = "adam",
        metrics=(),
        backend: str | None = None,
        compiled: bool | str | None = None,
        seed: int | None = None,
        schedule: str | Schedule | Mapping | None = None,
        *,
        learning_rate: float | None = None,
        **settings: Unpack[TrainerOptions],
    ):
        given = full_names(
            {"learning_rate": learning_rate, **settings} if learning_rate is not None else settings, TRAINER
        )
        rate = given.pop("learning_rate", None)
        module = model.to_module() if isinstance(model, Graph) else model
        if not isinstance(module, Module):
            raise ConfigError(f"model wants a Module or a Graph, received {type(model).__name__}")
        advice = habits.uncalled_methods(type(module), Module)
        if advice:
            warnings.warn(f"{type(module).__name__} has methods that a Trainer does not call: {advice}", stacklevel=2)
        resolved = config.create_settings(given)
        config.check_execution(backend, compiled, seed)
        loss_function = losses.losses_of(loss)
        config.refuse_class(optimizer, "optimizer")
        rule = find_optimizer(optimizer)
        own = type(self)
        self.context = TrainContext(
            model=module,
            loss_function=loss_function,
            loss_name=losses.full_name(loss) if isinstance(loss, str) else losses.loss_name(loss_function),
            optimizer=rule if rate is None else rule.replace({"learning_rate": rate}),
            metrics=losses.metrics(metrics),
            schedule=None if schedule is None else config.resolve(schedule, find_schedule, "schedule"),
            settings=resolved,
            backend=backend,
            compiled=compiled,
            seed=seed,
            methods=self,
            overridden=frozenset(name for name in OVERRIDABLE if getattr(own, name) is not getattr(Trainer, name)),
        )
        self.state = TrainState()
        self.loop: Loop | None = None  # the current training, or the last one
        self.last: dict[str, float] = {}  # values of the last batch
        self._test_results: tuple[dict[str, float], PerClass] | None = None
        self._predictor: Predictor | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        advice = habits.uncalled_methods(cls, Trainer)
        if advice:
            raise ConfigError(f"{cls.__name__} has methods that no training calls: {advice}")

    @classmethod
    @show_keywords(__init__)
    def from_config(cls, model: Module | Graph, settings: Mapping[str, Any] | str | Path, **changes: Any) -> Trainer:
        """Create a trainer from a dictionary of its settings, or from a .json, .yaml or .yml file.

        ``changes`` override these settings. A data set in a file is a name such as "digits" or an .npz of inputs and
        targets. Raises ConfigError, MissingFileError and FileFormatError.
        """
        return cls(model, **config.merge(config.read(settings), changes))

    # -- the fixed parts

    @property
    def model(self) -> Module:
        return self.context.model

    @property
    def loss_function(self) -> Callable[[Any, Any], Any]:
        return self.context.loss_function

    @property
    def loss_name(self) -> str:
        """Name of the loss in curves and recordings."""
        return self.context.loss_name

    @property
    def optimizer(self) -> Optimizer:
        """Settings of the optimizer; they may be replaced before the first step."""
        return self.context.optimizer

    @optimizer.setter
    def optimizer(self, value: Optimizer) -> None:
        self.context = dataclasses.replace(self.context, optimizer=value)

    @property
    def metrics(self) -> Mapping[str, Metric]:
        return self.context.metrics

    @property
    def schedule(self) -> Schedule | None:
        """Schedule of the learning rate; it may be replaced before a training starts."""
        return self.context.schedule

    @schedule.setter
    def schedule(self, value: Schedule | None) -> None:
        self.context = dataclasses.replace(self.context, schedule=value)

    @property
    def settings(self) -> TrainerSettings:
        return self.context.settings

    @property
    def backend(self) -> str | None:
        """The backend given to the constructor, None for that of the model."""
        return self.context.backend

    @property
    def compiled(self) -> bool | str | None:
        return self.context.compiled

    @property
    def seed(self) -> int | None:
        return self.context.seed

    # -- training as events

    @show_keywords(start_loop)
    def events(self, train=None, **options: Unpack[TrainingOptions]) -> Generator[Event, None, None]:
        """Train, yielding an event for the start, each step and each epoch. Leaving the loop stops training.

        ``train`` and ``validation`` are `ArrayDataset`, pairs (x, y), objects with samples, streams, which are
        `labdl.data.IterableDataset`, or a `labdl.data.Loader`, which has its own batch size and order; arguments that are left
        out are taken from the settings. ``steps_per_epoch`` is the number of steps in an epoch, which goes on in the next one;
        data sets and streams of known length train without it. ``validation_freq`` validates each n-th epoch, or the epochs
        of these numbers, [1, 5, 10]; the history of the validation then has as many entries. ``validation_steps`` is the number
        of batches of a validation, ``validation_batch_size`` their size, by default that of the training, but at least 256.
        x and y are arrays, lists or frames of pandas, and are converted once (see `labdl.data.conversion`): inputs to the
        dtype of the model, text labels to classes whose names are kept as ``model.class_names``, targets (N,) to an output
        (N, 1). ``validation_split``, in place of ``validation``, is the share of the samples that is held back for validation:
        for a loss of labels samples drawn by the seed, of each class its share, for others the last ones; ``validation_from``
        "shuffled" or "last", as in Keras, chooses. ``class_weight`` multiplies the loss of each training sample by the weight
        of its class, ``{0: 1.0, 1: 5.0}`` by number or name, 1 for those left out, a sequence of one for each class, or
        "balanced" for weights inverse to the frequencies; the mean divides by the number of samples. ``sample_weight`` are
        weights (N,) of the samples of x and y; they multiply those of the classes. Both weight the loss of the training alone,
        not metrics and validation.
        ``checkpoint``, a `Checkpoint` or its folder, saves the state during the training. ``resume`` resumes from a
        checkpoint: with True from the latest of ``checkpoint``, or starts a new training if there is none, so that the
        same script starts and resumes; or from the folder of a checkpoint, or the latest one in a folder. The training
        then continues to ``epochs`` in total. ``epochs``, ``batch_size`` and ``shuffle`` are taken from the checkpoint where
        neither this call nor the trainer sets them. With the same data, batch size and settings the results are those of an
        uninterrupted training. ``callbacks`` are functions that are called with each event, or `Callback` objects with
        methods for moments of the training; one that returns True ends the training, one that raises is logged and disabled.

        ``health`` enables the events that runs of `start` have by default: `Throughput`, `Rate` and `Alert`, and if it is above
        0, measurements in that share of the time: `Health` and `Histograms` of the layers, and `Samples`, `Predictions`,
        `Confusion` and `Worst` of the validation data. It does not change the training. Consumers should ignore events that
        they do not know.

        Raises DataError for a sample that cannot be read. For a loss, gradient or parameter that is not finite it raises
        ModelError, GradientError or UpdateError, which name the step and the layer, and restores the last finite state: that
        of the end of an epoch, kept in memory for models of up to 32 MiB, or of the last checkpoint.
        """
        loop = start_loop(self.context, self.state, train, **training_options("events", options))
        self.loop, self.context = loop, loop.context
        assert self.state.callbacks is not None
        return self.state.callbacks.follow(loop.events())

    def train_one_batch(self, *batch) -> dict[str, float]:
        """One update on a batch of NumPy arrays; returns its loss and metrics (T/AII 008-2023, table B.10)."""
        x, y = convert(self.context, self.state, *self.preprocess(batch[0] if len(batch) == 1 else as_batch(batch)))
        values, output = train_step(self.context, self.state, x, y)
        if self.context.metrics and math.isfinite(values["loss"]):  # else the training says where NaN came from
            if output is None:
                raise ConfigError("metrics want an output: return (loss, output) in a phase")
            array, y = self.postprocess(to_arrays(self.state.backend, output)), targets_of(self.loss_function, y)
            for name, metric in self.context.metrics.items() if array is not None else ():
                statistics = metric.statistics(array, y)
                metric.add(statistics)
                if not metric.costly:
                    values[name] = metric.value(*statistics)
        self.last = values
        return values

    def train_one_epoch(self, index: int = 0, train=None) -> dict[str, float]:
        """Train one epoch, counted from 0, with its data order and learning rates; returns its values (table B.11)."""
        self.loop = loop_for_epoch(self.context, self.state, self.loop, index, train)
        self.context = self.loop.context
        return self.loop.run_epoch()

    @show_keywords()
    def evaluate(
        self, dataset, y=None, *, batch_size: int = 256, averaged: bool = False, **unknown: Any
    ) -> dict[str, float]:
        """Mean loss and metrics over a data set, in evaluation mode; ``averaged`` uses the averaged parameters.

        ``evaluate(dataset)`` or ``evaluate(x, y)``, with the data that `fit` takes. The loss is that of one large batch,
        whatever ``batch_size`` is, for a loss of one's own the mean weighted by the numbers of samples.
        """
        check_keywords("Trainer.evaluate", unknown, ("batch_size", "averaged"))
        data = as_dataset(dataset if y is None else (dataset, y))
        return evaluate(self.context, self.state, data, batch_size, averaged=averaged)

    @show_keywords()
    def validate(self, dataset=None, y=None, *, batch_size: int = 256, **unknown: Any) -> dict[str, float]:
        """The values of a validation, named ``val_loss`` and so on: of the data, or of the validation data of the trainer.

        ``validate()`` takes the data of the last training, or of the setting ``val_dataset``; ``validate(dataset)`` and
        ``validate(x, y)`` take other data. With averaged parameters, if the validations of the training have them. Raises
        ConfigError where there are no data. As validate of Lightning's Trainer, which returns a list of dictionaries.
        """
        check_keywords("Trainer.validate", unknown, ("batch_size",))
        if dataset is None:
            dataset = self.loop.validation if self.loop is not None else self.settings.val_dataset
        if dataset is None:
            raise ConfigError("there are no validation data: write validate(x, y), or Trainer(model, val_dataset=…)")
        average = self.settings.average
        averaged = average is not None and average.evaluate and self.state.averages is not None
        return {
            f"val_{name}": value
            for name, value in self.evaluate(dataset, y, batch_size=batch_size, averaged=averaged).items()
        }

    @show_keywords()
    def predict(self, x, *, batch_size: int = 256, labels: bool = False, **unknown: Any) -> Any:
        """Outputs of the model for samples, as `labdl.predict`, with `forward` and `postprocess` of a subclass.

        ``x`` (N, ...) are the inputs in any form that `labdl.predict` takes, also a data set, whose targets are left out;
        the result is an array (N, ...), or a tuple or a dictionary of arrays, or with ``labels=True`` the predicted class
        of each sample. The batches, of ``batch_size`` samples, are concatenated. A function for the model is built by the
        first call, compiled as the training is, and used again. Raises the errors of `labdl.predict`.

        Example: ``classes = trainer.predict(x_test, labels=True)``.
        """
        from labdl.infer.predict import Predictor, predict_with

        check_keywords("Trainer.predict", unknown, ("batch_size", "labels"))
        if self._predictor is None:
            self._predictor = Predictor(
                self.model,
                backend=self.backend,
                compiled=self.compiled,
                function=lambda *inputs: self.forward(inputs if len(inputs) > 1 else inputs[0]),
            )
        with eval_mode([self.model]):  # for postprocess too
            return predict_with(self._predictor, x, batch_size, labels=labels, transform=self.postprocess)

    @show_keywords()
    def test(self, dataset, y=None, *, batch_size: int = 256, **unknown: Any) -> dict[str, float]:
        """`evaluate`, with averaged parameters if there are any, for the next `report`, which adds a row for each class."""
        check_keywords("Trainer.test", unknown, ("batch_size",))
        data = as_dataset(dataset if y is None else (dataset, y))
        classes = PerClass(self.model.class_names or class_names_of(data), ignored_target(self.context))
        averaged = isinstance(self.settings.average, EMA)
        values = evaluate(self.context, self.state, data, batch_size, averaged=averaged, classes=classes)
        self._test_results = values, classes
        return values

    def log(self, name: str, value: Any, *, batch_size: int | None = None) -> None:
        """Log a number under a name, in a callback or in a method that is not compiled, such as `postprocess`.

        In a training step it becomes a value of the step, and its mean over the epoch, in which a batch counts by its number
        of samples or ``batch_size``, a value of the epoch: in the history, the dashboard and the files of runs. In a validation
        its mean over the validation data gets the prefix ``val_``. At the end of an epoch it is a value of that alone; log it
        in `Callback.on_train_epoch_end`, as functions are called when the checkpoint is written. Values of one name in one
        step are averaged. Semantics: log of lightning.pytorch.LightningModule with on_step and on_epoch.
        ``value`` is a number, or a tensor or array of one. Raises ConfigError for other values, and for a name in use.

        Example: ``trainer.log("margin", np.mean(margins))``.
        """
        self.state.values.add(name, value, batch_size, ("loss", "gradient_norm", *self.metrics))

    def log_dict(self, values: Mapping[str, Any], *, batch_size: int | None = None) -> None:
        """Log several numbers by name, each as `log` does. As in Lightning."""
        for name, value in values.items():
            self.log(name, value, batch_size=batch_size)

    def log_text(self, name: str, text: str) -> None:
        """Log a text under a name, such as a sample that the model generated, as an event `Text` of the current step.

        The dashboard shows it on its tab Text; like ``add_text`` of TensorBoard's SummaryWriter. Call it in a callback, or in
        a method such as `postprocess` that is not compiled. The first 20,000 characters are recorded, and the last hundred
        texts of a step. Raises ConfigError for anything but strings, and for an empty name.

        Example: ``trainer.fit(train, callbacks=[lambda event: trainer.log_text("sample", generate())])``.
        """
        for argument, value in (("name", name), ("text", text)):
            if not isinstance(value, str):
                raise ConfigError(f"log_text wants a string for {argument}, received {type(value).__name__}")
        if not name:
            raise ConfigError("log_text wants a name that is not empty")
        self.state.logged.append(functools.partial(Text, name=name[:1000], text=text[: limits.MAX_TEXT]))

    def report(self) -> Report:
        """Report of settings, epochs, time and test of the training, which can be printed or displayed in a notebook."""
        seconds = self.loop.epoch_seconds if self.loop else []
        return Report.build(self.context, self.state.progress, seconds, self._test_results)

    # -- running

    @show_keywords(start_loop)
    def fit(
        self,
        train=None,
        y=None,
        *,
        progress: bool | Literal["epoch"] = True,
        verbose: Literal[0, 1, 2, "auto"] | None = None,
        **options: Unpack[TrainingOptions],
    ) -> dict[str, list[float]]:
        """Train with a progress bar, and return the history: for each value a list with one entry per epoch.

        ``fit(dataset)`` or ``fit(x, y)``. The keywords are those of `events`, the most used ones:

        - ``validation``: data of the same kinds, or ``validation_split``: a share of the samples, by default none
        - ``epochs``, ``batch_size``, ``shuffle``: by default those of the trainer, 1, 32 and True
        - ``steps_per_epoch``: the number of steps in an epoch, by default a pass over the data
        - ``validation_freq``, ``validation_steps``, ``validation_batch_size``: how often, with how many batches of what size
        - ``class_weight``: weights of the classes, or "balanced"; ``sample_weight``: weights of the samples
        - ``checkpoint``, ``resume``: a folder in which the state is saved, and whether to go on from there
        - ``callbacks``: functions that are called with each event, or objects of `Callback`
        - ``progress``: False hides the progress bar, "epoch" prints a line for each epoch; ``verbose`` 1, 0 and 2, as in Keras

        Ctrl-C stops after the current step, leaves the model usable and raises KeyboardInterrupt, so that a loop of
        trainings ends too (``progress.history`` has the values so far); pressed again, it stops at once. Raises
        MemoryError and OSError with advice when memory or disk space runs out.
        """
        from labdl.train.progress_bar import display_of, follow

        options = training_options("fit", options, ["progress", "verbose"])  # type: ignore[assignment]
        display = display_of(progress, verbose)
        with self._explain_errors(options.get("batch_size")):
            events = self.events(train if y is None else (train, y), **options)
            loop = self.loop
            assert loop is not None
            with Interruption() as interruption:
                try:
                    for _ in follow(events, display) if display else events:
                        if interruption.count:
                            break
                except BaseException as error:
                    if interruption.count < 2 and not isinstance(error, KeyboardInterrupt):
                        raise  # not that of a framework which was interrupted at once
                    interruption.count += 1
                finally:
                    events.close()
                    self.model.eval()
            if interruption.count:
                print("Stopped. The model keeps its current parameters.")
                raise KeyboardInterrupt from None
        return loop.history

    @show_keywords(start_loop)
    def start(
        self,
        train=None,
        y=None,
        *,
        folder: str | Path | None = None,
        save_to: str | Path | None = None,
        name: str | None = None,
        group: str | None = None,
        params: Mapping[str, Any] | None = None,
        **options: Unpack[TrainingOptions],
    ) -> Run:
        """Train in the background and return immediately a `Run` to watch, pause, resume and stop.

        The run is recorded in ``folder``, by default ``output_dir`` of the settings or ``runs/<id>``; ``save_to`` is an .npz
        file for the parameters after each epoch and at the end. ``name`` is shown in lists of runs, where it can be changed.
        ``group`` is the name of a group of runs and ``params`` the hyperparameters of this one, for tables that compare runs.
        The options are those of `events`; ``health`` defaults to that of the settings.
        """
        from labdl.train.run.run import Run

        options = training_options("start", options, ["folder", "save_to", "name", "group", "params"])  # type: ignore[assignment]
        more = membership(group, params)
        if name is not None:
            check_name(name)
        with self._explain_errors(options.get("batch_size")):  # raised here, not in the thread
            events = self.events(train if y is None else (train, y), **{"health": self.settings.health, **options})
        run = Run(self, events, self.settings.output_dir if folder is None else folder, save_to, more)
        if name is not None:
            write_about(run.folder, name=name)
        return run

    def _explain_errors(self, batch_size: int | None) -> AbstractContextManager:
        size = self.settings.batch_size if batch_size is None else batch_size
        return failures.explain_errors(size, self.settings.accumulate)
