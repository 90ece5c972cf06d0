"""Formats for packed data sets: seconds to write, bytes on disk, and microseconds for a sample that is read at random.

    python tests/bench/packing.py [--samples 2000] [--rounds 5]

Samples are a picture and a label: "jpeg" holds 12,000 random bytes as an encoded picture, "array" uint8 (64, 64, 3). All
formats are without compression, in one file, opened once, and read from the page cache; rounds take turns and the best one
counts. WebDataset is a tar with a list of positions in memory, as read_at; Parquet has groups of 64 rows, of which four stay in
memory. The last line is `labdl.data.packing` itself, with checksums, parts and structure.
"""

import argparse
import io
import tarfile
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa

from labdl import data
from labdl.data.formats import ParquetDataset, write_parquet
from labdl.data.packing import pack

SHAPE = (64, 64, 3)


def samples(kind: str, count: int) -> list[bytes]:
    rng = np.random.default_rng(0)
    return [rng.bytes(12_000 if kind == "jpeg" else int(np.prod(SHAPE))) for _ in range(count)]


def arrow(folder: Path, contents: list[bytes]):
    path = folder / "a.arrow"
    schema = pa.schema([("image", pa.large_binary()), ("label", pa.int64())])
    with pa.ipc.new_file(str(path), schema) as writer:
        for at in range(0, len(contents), 512):
            block = contents[at : at + 512]
            writer.write_batch(
                pa.record_batch([pa.array(block, pa.large_binary()), range(at, at + len(block))], schema)
            )
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
    columns = [(b.column(0), b.column(1)) for b in batches]

    def read(index):
        image, label = columns[index // 512]
        return np.frombuffer(image[index % 512].as_buffer(), np.uint8), label[index % 512].as_py()

    return read


def webdataset(folder: Path, contents: list[bytes]):
    path = folder / "a.tar"
    with tarfile.open(path, "w") as archive:
        for index, content in enumerate(contents):
            for suffix, value in (("bin", content), ("cls", str(index).encode())):
                member = tarfile.TarInfo(f"{index:09}.{suffix}")
                member.size = len(value)
                archive.addfile(member, io.BytesIO(value))
    with tarfile.open(path) as archive:
        places = [(m.offset_data, m.size) for m in archive]
    file = path.open("rb", buffering=0)

    def read_at(place):
        file.seek(place[0])
        return file.read(place[1])

    return lambda i: (np.frombuffer(read_at(places[2 * i]), np.uint8), int(read_at(places[2 * i + 1])))


def parquet(folder: Path, contents: list[bytes]):
    path = folder / "a.parquet"
    rows = [{"image": content, "label": index} for index, content in enumerate(contents)]
    write_parquet(data.SampleDataset(rows), path, rows_per_group=64)
    found = ParquetDataset(path)
    return lambda i: found[i]


def hdf5(folder: Path, contents: list[bytes]):
    with h5py.File(folder / "a.h5", "w") as file:
        file["image"] = np.stack([np.frombuffer(content, np.uint8) for content in contents])
        file["label"] = np.arange(len(contents))
    file = h5py.File(folder / "a.h5")
    images, labels = file["image"], file["label"]
    return lambda i: (images[i], labels[i])


def packed(folder: Path, contents: list[bytes]):
    rows = [(np.frombuffer(content, np.uint8), index) for index, content in enumerate(contents)]
    found = pack(data.SampleDataset(rows), folder / "packed")
    return lambda i: found[i]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    order = np.random.default_rng(1).permutation(arguments.samples).tolist()
    for kind in ("jpeg", "array"):
        contents = samples(kind, arguments.samples)
        readers, best = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            for write in (arrow, webdataset, parquet, hdf5, packed):
                place = Path(folder) / write.__name__
                place.mkdir()
                began = time.perf_counter()
                readers[write.__name__] = write(place, contents)
                seconds = time.perf_counter() - began
                size = sum(f.stat().st_size for f in place.rglob("*") if f.is_file())
                best[write.__name__] = (seconds, size, float("inf"))
            for _ in range(arguments.rounds):
                for name, read in readers.items():
                    count = 100 if name == "parquet" else len(order)
                    began = time.perf_counter()
                    for index in order[:count]:
                        read(index)
                    spent = (time.perf_counter() - began) / count * 1e6
                    best[name] = (*best[name][:2], min(spent, best[name][2]))
        for name, (seconds, size, micros) in best.items():
            overhead = size / sum(map(len, contents)) - 1
            print(
                f"{kind:6} {name:12} write {seconds:6.2f} s   {overhead:6.2%} over the values   read {micros:8.1f} µs"
            )


if __name__ == "__main__":
    main()
