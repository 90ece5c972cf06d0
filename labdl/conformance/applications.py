"""Clause 6.3, applications: training and inference of each kind."""

from __future__ import annotations

import numpy as np

import labdl
from labdl import dispatch, nn, ops, standard
from labdl.conformance import zoo
from labdl.conformance.row import array, close, holds, row
from labdl.infer import Detection, InstanceSegmentation
from labdl.models.sound import conformer, wavenet
from labdl.models.text import bert, gpt, transformer
from labdl.models.video import video_resnet
from labdl.models.vision import hrnet, mask_rcnn, pfld, resnet, trocr, unet, yolov8
from labdl.models.vision.detection_losses import MaskRCNNLoss, TaskAlignedLoss
from labdl.spec import Spec


def _train(model, data, **config) -> None:
    """Check that a few steps of the standard's trainer reduce the loss."""
    trainer = standard.construct_trainer(
        model, {"optimizer": {"optimizer_method": "Adam", "base_learningrate": 0.01}, "compiled": False, **config}
    )
    batch = dict(zip("XY", data, strict=True))
    losses = [standard.train_one_batch(trainer, batch) for _ in range(4)]
    holds(losses[-1] < losses[0], f"training makes the loss smaller, it went from {losses[0]:.4f} to {losses[-1]:.4f}")


def _try_classifier(model, x: np.ndarray) -> None:
    """Train, and compare the predicted classes with the same weights on NumPy."""
    _train(model, (x, np.arange(len(x)) % 2))
    predictions = standard.infer_samples(
        standard.construct_inference(model, {"postproc": lambda output: int(output.argmax())}), list(x)
    )
    reference = model.to("numpy").eval()
    holds(
        predictions == [int(n) for n in array(reference(x)).argmax(1)],
        "the classes are those of the same weights on NumPy",
    )


def _infer_as_numpy(model, x: np.ndarray) -> None:
    """Compare inference with the same weights on NumPy."""
    predictions = standard.infer_samples(standard.construct_inference(model, {}), list(x))
    reference = array(model.to("numpy").eval()(x))
    close(np.stack([array(output) for output in predictions]), reference, rtol=1e-3, atol=1e-4)


@row("6.3.1 a)", "Classification of images", "a small ResNet: four steps, then classes")
def images():
    model, (x,) = zoo.small_model(resnet.ResNet)
    _try_classifier(model, x)


@row(
    "6.3.1 d)",
    "Training and inference for the poses of people",
    "a small HRNet: four steps towards heat maps, then those of the same weights on NumPy",
    name="poses of people",
)
def poses():
    model, (x,) = zoo.small_model(hrnet.PoseHRNet)
    points, size = 3, x.shape[-1] // 4
    heat = np.zeros((len(x), points, size, size), "float32")
    heat[:, np.arange(points), np.arange(points), 2] = 1.0
    _train(model, (x, heat), loss="mse")
    _infer_as_numpy(model, x)


@row(
    "6.3.1 b)",
    "Training and inference for the detection of objects",
    "a small YOLOv8: four steps towards boxes, then detections of the same weights on NumPy",
    name="detection of objects",
)
def objects():
    model, (x,) = zoo.small_model(yolov8.YOLOv8)
    height, width = x.shape[2:]
    boxes = np.array([[[4, 4, 28, 40, 1], [2, 30, 20, 60, 2]], [[8, 8, 30, 30, 0], [0, 0, 0, 0, -1]]], "float32")
    _train(model, (x, boxes), loss=TaskAlignedLoss(image_size=(height, width)))
    after = [yolov8.YOLOv8.detector_form.read, Detection(threshold=0.0, max_detections=5, box_format="cxcywh")]
    _compare_objects(model, x, after)


def _compare_objects(model, x, after) -> list[tuple]:
    """The objects in each image, by the model's backend and by NumPy, after a check of their boxes and classes."""
    on_backend = standard.infer_samples(standard.construct_inference(model, {"postproc": after}), list(x))
    on_numpy = standard.infer_samples(standard.construct_inference(model.to("numpy"), {"postproc": after}), list(x))
    pairs = list(zip(on_backend, on_numpy, strict=True))
    for ours, expected in pairs:
        holds(len(ours) > 0, "there are objects")
        close(ours.boxes, expected.boxes, rtol=1e-3, atol=1e-2)
        holds(ours.labels.tolist() == expected.labels.tolist(), "the classes are those of the same weights on NumPy")
    return pairs


class _Pixels(nn.Module):
    """A segmentation network with its classes on the last axis, where cross entropy has them."""

    def __init__(self, net):
        self.net = net

    def forward(self, x):
        return ops.permute_dims(self.net(x), (0, 2, 3, 1))


@row(
    "6.3.1 c)",
    "Training and inference for the segmentation of images",
    "a small U-Net: four steps towards masks, then logits of the same weights on NumPy",
    name="segmentation of images",
)
def masks():
    net, (x,) = zoo.small_model(unet.UNet)
    model = _Pixels(net)
    _train(model, (x, (x[:, 0] > 0).astype("int64")))
    _infer_as_numpy(model, x)


class _Landmarks(nn.Module):
    """The points of PFLD alone, without the features of its auxiliary net."""

    def __init__(self, net):
        self.net = net

    def forward(self, x):
        return self.net(x)[1]


@row(
    "6.3.1 d)",
    "Training and inference for the key points of faces",
    "a small PFLD: four steps towards points, then those of the same weights on NumPy",
    name="key points of faces",
)
def faces():
    net, (x,) = zoo.small_model(pfld.PFLD)
    model = _Landmarks(net)
    _train(model, (x, np.full((len(x), 6), 0.5, "float32")), loss="mse")
    _infer_as_numpy(model, x)


@row(
    "6.3.4 a)",
    "Training and inference for the classification of videos",
    "a small R(2+1)D: four steps, then classes",
    name="classification of videos",
)
def clips():
    model, (x,) = zoo.small_model(video_resnet.VideoResNet)
    _try_classifier(model, x)


@row("6.3.2 b)", "Classification of texts", "a small BERT with a classifier: four steps, then classes")
def texts():
    _try_classifier(bert.BertForSequenceClassification(bert.SMALL, classes=2), zoo.draw(Spec((4, 5), "int64")))


@row("6.3.2 a)", "Similarity of texts", "a small BERT: a step, then cosines of texts")
def similarity():
    model, (x,) = zoo.small_model(bert.Bert)
    model.build(dispatch.spec_of(x), seed=0)
    zoo.train_step(model, (x,))
    infer = standard.construct_inference(model, {"postproc": lambda outputs: outputs[1]})
    one, same, other = standard.infer_samples(infer, [x[0], x[0], x[1]])
    cosine = ops.cosine_similarity(
        standard.initialize(np.stack([one, one])), standard.initialize(np.stack([same, other]))
    )
    close(array(cosine)[0], 1.0)
    expected = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    close(array(cosine)[1], expected)
    holds(array(cosine)[1] < array(cosine)[0], "a text is most like itself")


def _write_words(kind) -> None:
    """Train a small encoder-decoder for a step, and compare the words that it writes with the same weights on NumPy."""
    model, inputs = zoo.small_model(kind)
    model.build(*map(dispatch.spec_of, inputs), seed=0)
    zoo.train_step(model, inputs)
    model.eval()
    infer = standard.construct_inference(model, {"postproc": lambda logits: int(logits[-1].argmax())})
    words = [1]
    for _ in range(3):
        words.append(standard.infer_one_sample(infer, (inputs[0][0], np.array(words))))
    reference = model.to("numpy").eval()
    expected = [1]
    for _ in range(3):
        expected.append(int(array(reference(inputs[0][:1], np.array([expected])))[0, -1].argmax()))
    holds(words == expected, f"the words are {words}, wanted are {expected}")


@row(
    "6.3.2 c)",
    "Translation",
    "a small Transformer: a step, then the most likely words one after another, against the same weights on NumPy",
)
def translation():
    _write_words(transformer.TranslationTransformer)


@row(
    "6.3.1 e)",
    "Training and inference for the recognition of characters",
    "a small TrOCR: a step, then the most likely characters one after another, against the same weights on NumPy",
    name="recognition of characters",
)
def characters():
    _write_words(trocr.TrOCR)


class _Alignment(nn.Module):
    """The CTC loss of samples that are as long as they may be."""

    def forward(self, output, target):
        steps, labels = (
            ops.zeros_like(ops.getitem(target, (slice(None), 0))) + each.shape[1] for each in (output, target)
        )
        return nn.CTCLoss()(output, target, steps, labels)


@row(
    "6.3.3 a)",
    "Training and inference for the recognition of speech",
    "a small Conformer: four steps with the CTC loss, then letters of the same weights on NumPy",
    name="recognition of speech",
)
def speech():
    encoder, (x,) = zoo.small_model(conformer.Conformer)
    model = conformer.ConformerCTC(encoder, 4)  # type: ignore[arg-type]
    x = zoo.draw(Spec((2, 2 * x.shape[1], x.shape[2])))
    _train(model, (x, np.array([[1, 2], [3, 1]])), loss=_Alignment())
    letters = array(model.eval()(dispatch.get(model.backend).tensor(x))).argmax(-1).tolist()
    reference = array(model.to("numpy").eval()(x)).argmax(-1).tolist()
    holds(letters == reference, f"the letters are {letters}, those of the same weights on NumPy {reference}")


class _Samples(nn.Module):
    """A WaveNet with the classes of its samples on the last axis, where cross entropy has them."""

    def __init__(self, net):
        self.net = net

    def forward(self, x):
        return ops.permute_dims(self.net(x), (0, 2, 1))


@row(
    "6.3.3 b)",
    "Training and inference for the synthesis of speech",
    "a small WaveNet: four steps, then samples one after another, against the same weights on NumPy",
    name="synthesis of speech",
)
def samples():
    net, (x,) = zoo.small_model(wavenet.WaveNet)
    classes, steps = x.shape[1:]
    numbers = np.arange(steps)[None].repeat(len(x), 0) % classes
    one_hot = np.eye(classes, dtype="float32")
    model = _Samples(net)
    _train(model, (one_hot[numbers].transpose(0, 2, 1), (numbers + 1) % classes))
    sequence = _write_samples(model.eval(), one_hot)
    expected = _write_samples(model.to("numpy").eval(), one_hot)
    holds(sequence == expected, f"the samples are {sequence}, those of the same weights on NumPy {expected}")


def _write_samples(model, one_hot: np.ndarray) -> list[int]:
    """The most likely samples one after another, from the first class on."""
    result, owner = [0], dispatch.get(model.backend)
    state = model.net.first_state(owner.tensor(one_hot[:1]))
    for _ in range(8):
        logits, state = model.net.step(owner.tensor(one_hot[result[-1:]]), state)
        result.append(int(array(logits)[0].argmax()))
    return result


@row(
    "6.3.2 d)",
    "Training and inference for the generation of texts",
    "a small GPT: four steps, then tokens one after another, with kept keys and without, against the same weights on NumPy",
    name="generation of texts",
)
def continuations():
    model, (x,) = zoo.small_model(gpt.GPT)
    tokens = np.arange(x.shape[1])[None].repeat(len(x), 0) % 5
    _train(model, (tokens, (tokens + 1) % 5))
    results = [_continue(model.eval(), cached) for cached in (True, False)]
    reference = _continue(model.to("numpy").eval(), False)
    holds(
        results == [reference, reference], f"the tokens are {results}, those of the same weights on NumPy {reference}"
    )


def _continue(model, cached: bool) -> list[int]:
    """Three tokens after a prompt."""
    (result,) = labdl.generate(model, [[0, 1, 2]], max_new_tokens=3, use_cache=cached)  # type: ignore[misc]
    return result.tokens.tolist()


@row(
    "6.3.1 c)",
    "Training and inference for the segmentation of instances",
    "a small Mask R-CNN: four steps towards boxes and masks, then those of the same weights on NumPy",
    name="segmentation of instances",
)
def instances():
    model, (x,) = zoo.small_model(mask_rcnn.MaskRCNN)
    height, width = x.shape[2:]
    boxes = np.array([[[4, 4, 28, 40, 1], [2, 30, 20, 60, 2]], [[8, 8, 30, 30, 1], [0, 0, 0, 0, -1]]], "float32")
    masks = np.zeros((*boxes.shape[:2], height, width), "float32")
    masks[:, :, 8:40, 4:28] = 1.0
    # proposals of a network that has not learnt are far from objects
    _train(model, (x, (boxes, masks)), loss=MaskRCNNLoss(region_overlap=0.05))
    after = [mask_rcnn.MaskRCNN.detector_form.read, InstanceSegmentation(threshold=0.0, image_size=(height, width))]
    for ours, expected in _compare_objects(model, x, after):
        holds(np.mean(ours.masks != expected.masks) < 1e-3, "the masks are those of the same weights on NumPy")
