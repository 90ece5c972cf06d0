"""Exports small models with both exporters of PyTorch (2.13.0, onnxscript 0.7.2): ``python make_torch.py``.

``torch_script`` are files of ``torch.onnx.export(..., dynamo=False)``, ``torch_dynamo`` those of ``dynamo=True``.
"""

import math
import sys
import warnings

import torch
from recording import path, record, strip_traces
from torch import nn
from torch.nn import functional as F

warnings.simplefilter("ignore")


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(4)
        self.down = nn.Conv2d(4, 8, 1, stride=2, bias=False)
        self.conv = nn.Conv2d(4, 8, 3, stride=2, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = F.relu(self.norm1(self.stem(x)))
        x = F.relu(self.norm2(self.conv(x)) + self.down(x))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class Mobile(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = nn.Conv2d(3, 6, 1)
        self.depth = nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.squeeze = nn.Conv2d(6, 2, 1)
        self.excite = nn.Conv2d(2, 6, 1)
        self.project = nn.Conv2d(6, 4, 1)

    def forward(self, x):
        x = F.hardswish(self.expand(x))
        x = F.relu6(self.depth(x))
        scale = F.hardsigmoid(self.excite(F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))
        return self.project(x * scale).mean((2, 3))


class UNet(nn.Module):
    """Upsampling to the size of the skip connection, as in every U-Net."""

    def __init__(self, mode):
        super().__init__()
        self.mode = mode
        self.down = nn.Conv2d(2, 4, 3, padding=1)
        self.inner = nn.Conv2d(4, 4, 3, padding=1)
        self.up = nn.Conv2d(8, 2, 3, padding=1)

    def forward(self, x):
        skip = F.silu(self.down(x))
        x = F.silu(self.inner(F.max_pool2d(skip, 2)))
        options = {} if self.mode == "nearest" else {"align_corners": False}
        x = F.interpolate(x, size=skip.shape[2:], mode=self.mode, **options)
        return self.up(torch.cat([skip, x], 1))


class Upsampler(nn.Module):
    """A fixed factor, for pictures of any size."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3, padding=1)

    def forward(self, x):
        return F.interpolate(self.conv(x), scale_factor=2, mode="bilinear", align_corners=False)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 4 * 3 * 3)
        self.up = nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1)
        self.last = nn.ConvTranspose2d(3, 1, 3, stride=2, padding=1, output_padding=1)

    def forward(self, z):
        x = F.leaky_relu(self.first(z), 0.2).view(-1, 4, 3, 3)
        return torch.tanh(self.last(F.leaky_relu(self.up(x), 0.2)))


class Recurrent(nn.Module):
    """Embedding, a recurrent network with the initial state that PyTorch chooses, and the last step."""

    def __init__(self, kind, **options):
        super().__init__()
        self.embed = nn.Embedding(13, 4)
        self.net = kind(4, 5, batch_first=True, **options)
        self.head = nn.Linear(5 * (2 if options.get("bidirectional") else 1), 3)

    def forward(self, tokens):
        return self.head(self.net(self.embed(tokens))[0][:, -1])


class States(nn.Module):
    """The final states as outputs, of two layers."""

    def __init__(self):
        super().__init__()
        self.net = nn.LSTM(3, 4, num_layers=2, batch_first=True)

    def forward(self, x):
        outputs, (hidden, cell) = self.net(x)
        return outputs, hidden, cell


class Attention(nn.Module):
    """Attention written out, as in most repositories: reshapes with the sizes of the batch and of the sequence."""

    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        batch, steps, features = x.shape
        parts = self.qkv(x).reshape(batch, steps, 3, self.heads, features // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts[0], parts[1], parts[2]
        weights = (query @ key.transpose(-2, -1) / math.sqrt(features // self.heads)).softmax(-1)
        return self.out((weights @ value).transpose(1, 2).reshape(batch, steps, features))


class Decoder(nn.Module):
    """Causal attention of PyTorch's own kernel, learned positions, a tied head."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.position = nn.Embedding(16, 8)
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)

    def forward(self, tokens):
        batch, steps = tokens.shape
        x = self.embed(tokens) + self.position(torch.arange(steps))
        query, key, value = self.qkv(self.norm(x)).view(batch, steps, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        x = x + F.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).reshape(batch, -1, 8)
        return x @ self.embed.weight.T


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(1, 8, 4, stride=4)
        self.token = nn.Parameter(torch.randn(1, 1, 8))
        self.position = nn.Parameter(torch.randn(1, 5, 8))
        self.block = nn.TransformerEncoderLayer(8, 2, 12, 0.1, "gelu", batch_first=True, norm_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.position
        return self.head(self.block(x)[:, 0])


class Tabular(nn.Module):
    """Numbers and categories side by side: two inputs."""

    def __init__(self):
        super().__init__()
        self.city, self.day = nn.Embedding(6, 3), nn.Embedding(7, 2)
        self.norm = nn.BatchNorm1d(4)
        self.net = nn.Sequential(nn.Linear(9, 6), nn.ReLU(), nn.Dropout(0.2), nn.Linear(6, 1))

    def forward(self, numbers, categories):
        parts = [self.norm(numbers), self.city(categories[:, 0]), self.day(categories[:, 1])]
        return self.net(torch.cat(parts, 1)).squeeze(1)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Flatten(), nn.Linear(36, 8), nn.ELU(), nn.Linear(8, 4))
        self.mean, self.scale = nn.Linear(4, 2), nn.Linear(4, 2)
        self.decode = nn.Sequential(nn.Linear(2, 8), nn.ELU(), nn.Linear(8, 36), nn.Sigmoid())

    def forward(self, x):
        hidden = self.encode(x)
        mean, scale = self.mean(hidden), F.softplus(self.scale(hidden))
        return self.decode(mean).reshape(x.shape), mean, scale


class TCN(nn.Module):
    """Causal dilated convolutions: padded on the left only."""

    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(2 if n == 0 else 4, 4, 3, dilation=2**n) for n in range(3)])
        self.head = nn.Conv1d(4, 1, 1)

    def forward(self, x):
        for n, conv in enumerate(self.convs):
            y = F.gelu(conv(F.pad(x, (2 * 2**n, 0))))
            x = y if n == 0 else x + y
        return self.head(x)


class Volume(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(1, 3, 3, padding=1)
        self.norm = nn.GroupNorm(3, 3)
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(F.max_pool3d(F.relu(self.norm(self.conv(x))), 2).mean((2, 3, 4)))


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.users, self.items = nn.Embedding(9, 4), nn.Embedding(12, 4)
        self.user_bias, self.item_bias = nn.Embedding(9, 1), nn.Embedding(12, 1)

    def forward(self, user, item):
        score = (self.users(user) * self.items(item)).sum(-1)
        return torch.sigmoid(score + self.user_bias(user)[:, 0] + self.item_bias(item)[:, 0])


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3), nn.ReLU(), nn.AvgPool2d(2)
        )
        self.head = nn.Sequential(nn.Dropout(0.5), nn.Linear(6, 10))

    def forward(self, x):
        x = self.features(x)
        return F.log_softmax(self.head(x.view(x.size(0), -1)), dim=1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 12, batch_first=True), 2, enable_nested_tensor=False
        )

    def forward(self, x):
        return self.net(x)


class Masked(nn.Module):
    """Attention of PyTorch with a mask of padding."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, padding):
        return self.attention(x, x, x, key_padding_mask=padding, need_weights=False)[0]


def floats(*shape):
    return lambda batch: torch.randn(batch, *shape)


def tokens(count, *shape):
    return lambda batch: torch.randint(0, count, (batch, *shape))


def padding(steps):
    return lambda batch: torch.arange(steps)[None] >= torch.randint(2, steps, (batch, 1))


FIXED = None  # one batch size, as without any options: the initial states are constants of the file
# name: model, inputs, and the axes besides the batch that may have any size: {input: {axis: name}}
MODELS = {
    "cnn": (CNN, [floats(1, 8, 8)], {}),
    "residual": (Residual, [floats(3, 8, 8)], {}),
    "mobile": (Mobile, [floats(3, 8, 8)], {}),
    "unet": (lambda: UNet("nearest"), [floats(2, 8, 8)], {}),
    "unet_any_size": (lambda: UNet("bilinear"), [floats(2, 8, 8)], {0: {2: "height", 3: "width"}}),
    "upsampler": (Upsampler, [floats(2, 4, 5)], {0: {2: "height", 3: "width"}}),
    "generator": (Generator, [floats(5)], {}),
    "bilstm": (lambda: Recurrent(nn.LSTM, bidirectional=True), [tokens(13, 6)], {0: {1: "steps"}}),
    "bilstm_fixed": (lambda: Recurrent(nn.LSTM, bidirectional=True), [tokens(13, 6)], FIXED),
    "gru_fixed": (lambda: Recurrent(nn.GRU), [tokens(13, 6)], FIXED),
    "gru": (lambda: Recurrent(nn.GRU), [tokens(13, 6)], {}),
    "bigru": (lambda: Recurrent(nn.GRU, bidirectional=True), [tokens(13, 6)], {}),
    "rnn": (lambda: Recurrent(nn.RNN), [tokens(13, 6)], {}),
    "states": (States, [floats(6, 3)], {}),
    "encoder": (Encoder, [floats(5, 8)], {0: {1: "steps"}}),
    "attention": (Attention, [floats(5, 8)], {0: {1: "steps"}}),
    "masked": (Masked, [floats(5, 8), padding(5)], {}),
    "decoder": (Decoder, [tokens(11, 6)], {0: {1: "steps"}}),
    "vit": (ViT, [floats(1, 8, 8)], {}),
    "tabular": (Tabular, [floats(4), tokens(6, 2)], {}),
    "autoencoder": (Autoencoder, [floats(1, 6, 6)], {}),
    "tcn": (TCN, [floats(2, 9)], {0: {2: "steps"}}),
    "volume": (Volume, [floats(1, 4, 4, 4)], {}),
    "recommender": (Recommender, [tokens(9), tokens(12)], {}),
}


def export(name: str, dynamo: bool) -> None:
    make, inputs, more = MODELS[name]
    torch.manual_seed(0)
    model = make().eval()
    for module in model.modules():  # running statistics that are not the identity
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2.0)
    batches = [tuple(draw(batch) for draw in inputs) for batch in ((2, 2) if more is FIXED else (2, 3))]
    axes = [{} if more is FIXED else {0: "batch", **more.get(at, {})} for at in range(len(inputs))]
    file = path("torch_dynamo" if dynamo else "torch_script", name)
    names = [f"input_{n}" for n in range(len(inputs))]
    if dynamo:
        shapes = None if more is FIXED else tuple({axis: torch.export.Dim.DYNAMIC for axis in found} for found in axes)
        torch.onnx.export(
            model,
            batches[0],
            file,
            input_names=names,
            dynamo=True,
            dynamic_shapes=shapes,
            external_data=False,
            verbose=False,
        )
        strip_traces(file)
    else:
        outputs = model(*batches[0])
        results = [f"output_{n}" for n in range(len(outputs) if isinstance(outputs, tuple) else 1)]
        dynamic = (
            None
            if more is FIXED
            else dict(zip(names, axes, strict=True))
            | {word: {1 if word in ("output_1", "output_2") and name == "states" else 0: "batch"} for word in results}
        )
        torch.onnx.export(
            model, batches[0], file, input_names=names, output_names=results, dynamo=False, dynamic_axes=dynamic
        )
    cases = []
    for batch in batches:
        with torch.no_grad():
            outputs = model(*batch)
        cases.append((batch, outputs if isinstance(outputs, tuple) else (outputs,)))
    record(file.parent.name, name, cases)


if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        for dynamo in (False, True):
            try:
                export(name, dynamo)
            except Exception as error:
                print(name, "dynamo" if dynamo else "script", type(error).__name__, str(error)[:300])
