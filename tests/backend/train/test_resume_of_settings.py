"""With every setting of a trainer, a training that resumes within an epoch ends as the uninterrupted one, bit for bit."""

import numpy as np
import pytest
from interrupted import own_seeds

import labdl
from labdl import nn
from labdl.train import EMA, SGD, SWA, Adam, AdamW, Callback, Checkpoint, EarlyStopping, ReduceOnPlateau, Trainer
from labdl.train.checkpoint import checkpoints

pytestmark = pytest.mark.sample(False)
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(22, 6)).astype("float32"), RNG.integers(0, 3, 22)
VALIDATION = (RNG.normal(size=(9, 6)).astype("float32"), RNG.integers(0, 3, 9))
BY_LOSS = EarlyStopping("val_loss", patience=30, restore_best=True)

SETTINGS = {
    "validation in epochs": {"val_check_interval": 2},
    "early stopping in epochs": {"val_check_interval": 0.4, "stopping": BY_LOSS},
    "moving average": {"average": EMA(0.8), "stopping": BY_LOSS},
    "mean of epochs": {"average": SWA(0.3), "val_check_interval": 2},
    "accumulation": {"accumulate": 2, "val_check_interval": 1, "average": EMA(0.9)},
    "groups": {
        "optimizer": AdamW(
            1e-2, groups={"0/*": {"lr": 1e-3, "schedule": "cosine_decay"}, "4/*": SGD(0.05, momentum=0.9)}
        ),
        "schedule": "warmup_cosine",
    },
    "plateau": {"schedule": ReduceOnPlateau(patience=0), "val_check_interval": 2},
    "shares of batches": {"schedule": "one_cycle", "limit_train_batches": 0.7, "limit_val_batches": 0.5},
    "steps": {"max_steps": 11, "epochs": 1, "drop_last": True},
    "half precision": {"precision": "float16"},
    "clipping": {"clip_norm": 0.1, "gradient_norm": True, "freeze": "0/*"},
    "two optimizers": {"optimizer": {"4/*": SGD(0.1, momentum=0.9), "*": Adam(1e-2)}},
    "gradient checkpointing": {"gradient_checkpointing": ["3", "0"]},
    "matrices": {"optimizer": "soap"},
}


class Logging(Callback):
    def on_train_batch_end(self, trainer, values, batch, batch_index):
        trainer.log("twice", 2 * values["loss"])

    def on_validation_end(self, trainer, values):
        trainer.log("thrice", 3 * values["val_loss"])


class Measured(Trainer):
    def postprocess(self, output):
        self.log("square", float(np.mean(np.square(output))))
        return output


def results(backend, settings, seed, **options):
    """Everything that a training leaves behind, as one tree of arrays."""
    labdl.seed(seed)
    model = nn.Sequential(nn.Linear(8), nn.BatchNorm(), nn.ReLU(), nn.Dropout(0.3), nn.Linear(3))
    keywords = {"optimizer": Adam(1e-2), "epochs": 3, "batch_size": 4, "metrics": ["accuracy", "f1"], **settings}
    trainer = Measured(model, backend=backend.name, seed=4, **keywords)
    history = trainer.fit(X, Y, validation=VALIDATION, callbacks=[Logging()], progress=False, **options)
    averages = trainer.state.averages
    return {
        "parameters": dict(model.state_dict()),
        "history": history,
        "validations": trainer.progress.validations,
        "averages": {} if averages is None else averages.state_dict(),
        "rate": trainer.learning_rate,
    }


RECOMPUTING = pytest.mark.backends("torch", "paddle")  # the others have no gradient checkpointing


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=RECOMPUTING if "gradient_checkpointing" in SETTINGS[name] else []) for name in SETTINGS],
)
def test_resumed_training_is_the_uninterrupted_one(backend, name, tmp_path):
    settings = SETTINGS[name]
    with own_seeds():
        whole = results(backend, settings, 9, checkpoint=Checkpoint(tmp_path, every=1, keep=None))
        saved = checkpoints(tmp_path)
        for path in (saved[2], saved[-3]):
            np.testing.assert_equal(results(backend, settings, 77, resume=path), whole)
