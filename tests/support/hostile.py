"""Small files that claim, name or describe too much: models, configurations, notes and images."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import yaml
from support.prototypedl import Small, save_whole, small
from support.runs import IMAGES, final

Command = list[str]
"""The arguments of `verale`."""


def imported(folder: Path, data: bytes) -> Command:
    """Import these bytes as a ProtoPNet's state."""
    (folder / "state.pth").write_bytes(data)
    return ["head", "import", str(folder / "state.pth"), "--arch", "protopnet", "-o", str(folder / "head.safetensors")]


def saved(state: object, **options: object) -> bytes:
    """What torch.save writes."""
    stream = io.BytesIO()
    torch.save(state, stream, **options)
    return stream.getvalue()


def state(shape: Sequence[int] = (4, 3, 1, 1)) -> dict[str, torch.Tensor]:
    """A ProtoPNet's state."""
    return {"prototype_vectors": torch.rand(*shape), "last_layer.weight": torch.rand(2, shape[0])}


def archive(pickled: bytes, storages: dict[str, bytes] | None = None, method: int = zipfile.ZIP_STORED) -> bytes:
    """A checkpoint with this pickle and these storages."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as file:
        file.writestr("archive/data.pkl", pickled)
        file.writestr("archive/byteorder", b"little")
        for key, data in (storages or {}).items():
            file.writestr(f"archive/data/{key}", data)
        file.writestr("archive/version", b"3\n")
    return stream.getvalue()


def number(value: int) -> bytes:
    """The opcodes of an integer."""
    data = pickle.encode_long(value)
    return b"\x8a" + bytes([len(data)]) + data


def text(value: str) -> bytes:
    """The opcodes of a string."""
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def tensor(count: int, shape: Sequence[int], strides: Sequence[int], key: str = "0", kind: str = "Float") -> bytes:
    """The opcodes of a tensor on a storage of so many numbers."""
    storage = b"(" + text("storage") + f"ctorch\n{kind}Storage\n".encode() + text(key) + text("cpu")
    sizes = b"".join(b"(" + b"".join(map(number, part)) + b"t" for part in (shape, strides))
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(count) + b"tQ" + number(0) + sizes
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )  # fmt: skip


def dictionary(**items: bytes) -> bytes:
    """A pickled dictionary of these opcodes."""
    return b"\x80\x02}(" + b"".join(text(key) + value for key, value in items.items()) + b"u."


def deflated(folder: Path) -> Command:
    """A storage of zeros, compressed."""
    size = 100_000_000
    pickled = dictionary(prototype_vectors=tensor(size // 4, (size // 400, 100, 1, 1), (100, 1, 1, 1)))
    return imported(folder, archive(pickled, {"0": bytes(size)}, zipfile.ZIP_DEFLATED))


def beyond(folder: Path) -> Command:
    """A storage that claims a million times what its entry holds: memory of the process would become weights."""
    pickled = dictionary(
        **{
            "prototype_vectors": tensor(10**6, (1000, 1000, 1, 1), (1000, 1, 1, 1)),
            "last_layer.weight": tensor(10**6, (2, 1000), (1000, 1)),
        }
    )
    return imported(folder, archive(pickled, {"0": bytes(4)}))


def overlapping(folder: Path) -> Command:
    """An archive in which 5,000 entries are the same bytes."""
    data = archive(dictionary(a=tensor(25_000, (25_000,), (1,))), {"0": bytes(100_000)})
    end = data.rindex(b"PK\x05\x06")
    start = struct.unpack("<I", data[end + 16 : end + 20])[0]
    entries = re.split(rb"(?=PK\x01\x02)", data[start:end])[1:]
    big = next(entry for entry in entries if entry[46:].startswith(b"archive/data/0"))
    copies = [big[:28] + struct.pack("<H", 18) + big[30:46] + b"archive/data/%05d" % i for i in range(5000)]
    copies = [copy[:28] + struct.pack("<H", len(copy) - 46) + copy[30:] for copy in copies]
    directory = b"".join(entries + copies)
    count = struct.pack("<HH", len(entries) + 5000, len(entries) + 5000)
    return imported(folder, data[:start] + directory + data[end : end + 8] + count
                    + struct.pack("<IIH", len(directory), start, 0))  # fmt: skip


def entry(value: bytes) -> bytes:
    """The opcodes of a dictionary with one value."""
    return b"}(" + text("a") + value + b"u"


def encoded() -> bytes:
    """Bytes encoded as hexadecimal digits again and again: each call doubles them."""
    call = b"c_codecs\nencode\n"
    body = text("x" * 100)
    for codec in ["latin1", *["hex_codec"] * 24]:
        body = call + body + text(codec) + b"\x86R"
    return body


def module(more: bytes = b"", modules: bytes = b"", parameters: bytes = b"") -> bytes:
    """The opcodes of a whole module, whose class exists nowhere."""
    state = b"".join(
        text(f"_{name}") + b"}(" + entries + b"u"
        for name, entries in (("parameters", parameters), ("buffers", b""), ("modules", modules))
    )
    return b"ca\nB\n)\x81}(" + state + more + b"ub"


def dumped(opcodes: bytes, storages: dict[str, bytes] | None = None) -> Callable[[Path], Command]:
    """What is pickled by these opcodes, in an archive: a state, or a whole module."""
    return lambda folder: imported(folder, archive(b"\x80\x02" + opcodes + b".", storages))


def halves() -> bytes:
    """Modules in two places each: 2^60 of them."""
    pickled = module()
    for level in range(60):
        pickled = module(modules=text("a") + pickled + b"q" + bytes([level]) + text("b") + b"h" + bytes([level]))
    return pickled


def old_module(change: Callable[[bytes], bytes]) -> Callable[[Path], Command]:
    """A whole module in the older format, changed."""
    return lambda folder: imported(folder, change(saved(torch.nn.Linear(3, 4), _use_new_zipfile_serialization=False)))


def captured(folder: Path, change: Callable[[Small], object] = lambda network: None, images: bytes = b"") -> Command:
    """Capture images with a small PrototypeDL, changed before it is saved."""
    network = small()
    change(network)
    save_whole(network, folder / "model.pth")
    (folder / "images").write_bytes(images or struct.pack(">HBB3I", 0, 8, 3, 1, 28, 28) + bytes(784))
    model, pixels, latents = (str(folder / name) for name in ("model.pth", "images", "latents.safetensors"))
    return ["latents", model, "--arch", "prototypedl", "--images", pixels, "-o", latents]


def grown(change: Callable[[dict], object]) -> Callable[[Path], Command]:
    """A run of a ProtoTree whose tree, as its state describes it, is changed."""

    def attack(folder: Path) -> Command:
        directory = run(folder, "prototree")
        content = torch.load(directory / "model_state.pth", weights_only=True)
        change(content["_extra_state"])
        torch.save(content, directory / "model_state.pth")
        return explained(folder, directory)

    return attack


def leaves(node: dict, **fields: object) -> None:
    """Give every leaf these fields."""
    for child in node.get("children", ()):
        leaves(child, **fields)
    if not node.get("children"):
        node.update(fields)


def published(name: str, tensors: Callable[[], dict[str, torch.Tensor]]) -> Callable[[Path], Command]:
    """A published network's state, of less than 1 MB, whose head would be huge."""

    def attack(folder: Path) -> Command:
        torch.save(tensors(), folder / "state.pth")
        output = str(folder / "head.safetensors")
        return ["head", "import", str(folder / "state.pth"), "--arch", name, "-o", output]

    return attack


def run(folder: Path, family: str = "protopnet", **files: bytes) -> Path:
    """A copy of a run with other files: `model_arch`, `dataset`, `projection_info`."""
    directory = folder / "final"
    shutil.copytree(final(family), directory)
    for name, content in files.items():
        (directory / f"{name}.{'csv' if name == 'projection_info' else 'yml'}").write_bytes(content)
    return directory


def architecture(content: bytes) -> Callable[[Path], Command]:
    """A run whose model_arch.yml is this."""

    def attack(folder: Path) -> Command:
        return ["head", "import", str(run(folder, model_arch=content)), "-o", str(folder / "head.safetensors")]

    return attack


def with_field(content: str) -> Callable[[Path], Command]:
    """A run whose model_arch.yml has another field."""
    return architecture((final("protopnet") / "model_arch.yml").read_bytes() + content.encode())


def explained(folder: Path, directory: Path, images: Path = IMAGES / "0") -> Command:
    """Explain images with a run, in a way that takes little time."""
    options = ["--out", str(folder / "out"), "--paradigm", "projection"]
    return ["explain", "--checkpoint-dir", str(directory), "--images", str(images), *options]


def built(change: Callable[[dict], object], family: str = "protopnet") -> Callable[[Path], Command]:
    """A run that is explained, after a change of model_arch.yml."""

    def attack(folder: Path) -> Command:
        content = yaml.safe_load((final(family) / "model_arch.yml").read_bytes())
        change(content)
        return explained(folder, run(folder, family, model_arch=yaml.safe_dump(content).encode()))

    return attack


def transformed(*steps: dict) -> Callable[[Path], Command]:
    """A run that is explained, with other steps before the test set's."""

    def attack(folder: Path) -> Command:
        content = yaml.safe_load((final("protopnet") / "dataset.yml").read_bytes())
        params = content["test_set"]["params"]
        params["transform"] = [*steps, *params["transform"].values()]
        return explained(folder, run(folder, dataset=yaml.safe_dump(content).encode()))

    return attack


def backbone(**fields: object) -> Callable[[Path], Command]:
    """A run that is explained, with other fields of its backbone."""
    return built(lambda content: content["extractor"]["backbone"].update(fields))


def add_on(**layer: object) -> Callable[[Path], Command]:
    """A run that is explained, with another layer before its last."""

    def change(content: dict) -> None:
        layers = content["extractor"]["convnet"]["add_on"]
        last = layers.pop("last")
        layers |= {"more": layer, "last": last}

    return built(change)


def classifier(family: str, **params: object) -> Callable[[Path], Command]:
    """A run that is explained, with other sizes of its classifier."""
    return built(lambda content: content["classifier"]["params"].update(params), family)


def noted(content: bytes) -> Callable[[Path], Command]:
    """A run that is explained, with these notes on its prototypes."""
    return lambda folder: explained(folder, run(folder, projection_info=content))


def png(width: int, height: int) -> bytes:
    """A black image that compresses to almost nothing."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    compressor, row = zlib.compressobj(1), bytes(1 + (width + 7) // 8)
    rows = b"".join(compressor.compress(row) for _ in range(height)) + compressor.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def shown(width: int, height: int, *steps: dict) -> Callable[[Path], Command]:
    """A run that explains one image of this size, with other steps before the test set's."""

    def attack(folder: Path) -> Command:
        command = transformed(*steps)(folder)
        (folder / "images").mkdir()
        (folder / "images" / "a.png").write_bytes(png(width, height))
        command[command.index(str(IMAGES / "0"))] = str(folder / "images")
        return command

    return attack


def laughs(levels: int, repeated: int = 9) -> str:
    """Aliases of aliases."""
    lines = [f"l0: &l0 [{', '.join(['lol'] * repeated)}]"]
    lines += [f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * repeated)}]" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


ATTACKS: dict[str, Callable[[Path], Command]] = {
    "honest import": lambda folder: imported(folder, saved(state())),
    "honest run": lambda folder: explained(folder, run(folder)),
    "zero strides": lambda folder: imported(
        folder,
        saved(
            {
                "prototype_vectors": torch.zeros(1).expand(10_000, 10_000, 1, 1),
                "last_layer.weight": torch.zeros(1).expand(2, 10_000),
            }
        ),
    ),
    "1,000 tensors, one storage": lambda folder: imported(
        folder,
        saved(dict(zip((f"t{i}" for i in range(1000)), torch.zeros(25_000).expand(1000, -1), strict=True)) | state()),
    ),
    "compressed storage": deflated,
    "storage larger than its entry": beyond,
    "overlapping entries": overlapping,
    "bytearray(10^10)": dumped(entry(b"cbuiltins\nbytearray\n" + number(10**10) + b"\x85R")),
    "FloatTensor(10^5, 10^5)": dumped(entry(b"ctorch\nFloatTensor\n" + (number(10**5) * 2) + b"\x86R")),
    "sparse tensor": dumped(entry(b"ctorch._utils\n_rebuild_sparse_tensor\n" + text("layout") + b"N\x86R")),
    "hex of hex": dumped(entry(encoded())),
    "tuples as a key, doubled": dumped(b"})" + b"q\x00h\x00\x86" * 60 + b"Ns"),  # hashing it takes 2^60 steps
    "tuples as a key, nested": dumped(b"})" + b"\x85" * 100_000 + b"Ns"),
    "a long tuple, repeated": dumped(entry(b"](" + b"(" + b"N" * 300_000 + b"tq\x00" + b"h\x00" * 300_000 + b"e")),
    "module: os.system": dumped(module(more=text("x") + b"cos\nsystem\n" + text("true") + b"\x85R")),
    "module: zero strides": dumped(module(parameters=text("w") + tensor(1, (50_000, 50_000), (0, 0))), {"0": bytes(4)}),
    "module: huge shape": dumped(module(parameters=text("w") + tensor(1, (2**62, 0), (1, 1))), {"0": bytes(4)}),
    "module: storage of 40 GB": dumped(module(parameters=text("w") + tensor(10**10, (10**10,), (1,))), {"0": bytes(4)}),
    "module: 2^60 modules": dumped(halves()),
    "module: in itself": dumped(
        b"ca\nB\n)\x81q\x00}("
        + b"".join(text(f"_{name}") + b"}" for name in ("parameters", "buffers", "modules"))
        + (text("m") + b"h\x00sub")
    ),
    "module: objects nested 150,000 deep": dumped(
        module(more=text("x") + b"ca\nC\nq\x00)\x81" + b"}\x8c\x01ah\x00)\x81" * 75_000 + b"sb" * 75_000)
    ),
    "module: tuples nested 100,000 deep": dumped(module(more=text("x") + b")" + b"\x85" * 100_000)),
    "module: tuples doubled, as a key": dumped(module(more=text("x") + b"})" + b"q\x00h\x00\x86" * 60 + b"Ns")),
    "module: 60,000 keys of one hash": dumped(  # Python hashes these numbers to 0
        module(more=text("x") + b"}(" + b"".join(number(i * (2**61 - 1)) + b"N" for i in range(1, 60_000)) + b"u")
    ),
    "module: a memo of 300,000 places": dumped(
        module(more=text("x") + b"]" + b"".join(b"r" + struct.pack("<I", 2**32 - 1 - i) for i in range(150_000)))
    ),
    "module: a long list of pairs, called 50,000 times": dumped(
        module(
            more=text("x")
            + b"](ccollections\nOrderedDict\nq\x00]("
            + b"](NNe" * 60_000
            + b"eq\x01\x85R"
            + b"h\x00h\x01\x85R" * 50_000
            + b"e"
        )
    ),
    "module: a long name, 100,000 times": dumped(
        module(more=text("x") + b"](" + text("n" * 300_000) + b"q\x000" + b"h\x00h\x00\x93" * 100_000 + b"e")
    ),
    "module: 900,000 empty dictionaries": dumped(module(more=text("x") + b"](" + b"}" * 900_000 + b"e")),
    "module: 290,000 objects": dumped(module(more=text("x") + b"](ca\nC\nq\x000" + b"h\x00)\x81" * 225_000 + b"e")),
    "module: older format, storage of 20 GB": old_module(
        lambda data: data.replace(b"K\x0cN", number(5 * 10**9) + b"N", 1)
    ),
    "module: older format, doubled keys": lambda folder: imported(  # written out they have 2^60 items
        folder,
        b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
        + b"\x80\x02}."
        + b"\x80\x02])"
        + b"q\x00h\x00\x86" * 60
        + b"a.",
    ),
    "module: older format, truncated": old_module(lambda data: data[:-5]),
    "module: older format, a wrong count": old_module(
        lambda data: data.replace(struct.pack("<q", 12), struct.pack("<q", 2**40), 1)
    ),
    "latents: honest": captured,
    "latents: padding of 30,000": lambda folder: captured(
        folder, lambda network: setattr(network.encoder.convnet[0], "padding", (30_000, 30_000))
    ),
    "latents: 100,000 channels": lambda folder: captured(
        folder, lambda network: network.encoder.convnet.__setitem__(0, torch.nn.Conv2d(1, 100_000, 1))
    ),
    "latents: 2^96 pixels": lambda folder: captured(folder, images=struct.pack(">HBB3I", 0, 8, 3, *[2**32 - 1] * 3)),
    "latents: 10^9 pixels, compressed": lambda folder: captured(
        folder, images=gzip.compress(struct.pack(">HBB3I", 0, 8, 3, 1275511, 28, 28) + bytes(2 * 10**7), mtime=0)
    ),
    "tree: 10^9 classes": grown(lambda tree: leaves(tree, num_classes=10**9)),
    "a million opcodes": dumped(entry(b"]" + b"(" + b"N" * 10**6 + b"e")),
    "a string that claims 4 GB": dumped(b"}X" + struct.pack("<I", 2**32 - 1) + b"abc"),
    "older format: storage of 20 GB": lambda folder: imported(
        folder, saved(state(), _use_new_zipfile_serialization=False).replace(b"K\x0cN", number(5 * 10**9) + b"N", 1)
    ),
    "older format: zero strides": lambda folder: imported(
        folder,
        saved({"prototype_vectors": torch.zeros(1).expand(50_000, 50_000)}, _use_new_zipfile_serialization=False),
    ),
    "nonparam: 60,000 classes": published(
        "nonparam", lambda: {"classifier.weights": torch.zeros(60_000, 1), "prototypes": torch.rand(60_001, 1, 1) + 1}
    ),
    "protopool: 60,000 classes": published(
        "protopool", lambda: {"prototype_vectors": torch.zeros(1, 1, 1, 1), "proto_presence": torch.zeros(60_000, 1, 1)}
    ),
    "YAML: alias bomb": with_field(laughs(12)),
    "YAML: alias bomb, explained": built(lambda content: content.update(yaml.safe_load(laughs(12)))),
    "YAML: alias of itself": with_field("loop: &loop [*loop]\n"),
    "YAML: merged again and again": with_field(
        "m0: &m0 {a: 1}\n" + "".join(f"m{i}: &m{i} {{<<: [*m{i - 1}, *m{i - 1}]}}\n" for i in range(1, 28))
    ),
    "YAML: nested deeply": with_field("deep: " + "[" * 10_000 + "]" * 10_000 + "\n"),
    "YAML: an integer of 5,000 digits": with_field(f"big: {'9' * 5000}\n"),
    "YAML: a bad date": with_field("date: 2024-99-99\n"),
    "YAML: a list as a key": with_field("? [a]\n: 1\n"),
    "YAML: a Python object": with_field("x: !!python/object/apply:os.system [true]\n"),
    "YAML: NUL": with_field("x: \0\n"),
    "YAML: not UTF-8": architecture(b"x: \xff\xfe\xfa\n"),
    "YAML: 900 kB": with_field("".join(f"k{i}: [1, 2, 3]\n" for i in range(50_000))),
    "YAML: two documents": with_field("---\nx: 1\n"),
    "backbone: weights DEFAULT": backbone(weights="DEFAULT"),
    "backbone: weights in params": backbone(params={"weights": "DEFAULT"}),
    "backbone: pretrained in params": backbone(params={"pretrained": True}),
    "backbone: segmentation, downloads by default": backbone(arch="deeplabv3_resnet50"),
    "backbone: detection, downloads by default": backbone(arch="fasterrcnn_resnet50_fpn"),
    "backbone: an ONNX file": backbone(arch="generic_onnx_model", params={"onnx_path": "/tmp/x.onnx"}),
    "backbone: a network of 2.6 GB": backbone(arch="regnet_y_128gf"),
    "backbone: a width of 10^4": backbone(params={"width_mult": 1e4}),
    "add-on: 10^9 channels": add_on(type="Conv2d", params={"in_channels": 8, "out_channels": 10**9, "kernel_size": 1}),
    "add-on: Upsample": add_on(type="Upsample", params={"scale_factor": 10_000}),
    "add-on: padding": built(
        lambda content: content["extractor"]["convnet"]["add_on"]["conv1"]["params"].update(padding=30_000)
    ),
    "classifier: 10^8 prototypes a class": classifier("protopnet", num_proto_per_class=10**8),
    "classifier: 10^9 classes": classifier("protopnet", num_classes=10**9),
    "classifier: a tree of depth 40": classifier("prototree", depth=40),
    "classifier: 10^9 slots": classifier("protopool", num_slots_per_class=10**9),
    "transform: Resize to 10^5": transformed({"type": "Resize", "params": {"size": [100_000, 100_000]}}),
    "transform: Pad by 10^5": transformed({"type": "Pad", "params": {"padding": 50_000}}),
    "transform: a function of CaBRNet's": transformed(
        {"module": "cabrnet.core.utils.custom_preprocess", "type": "load_transform", "params": {"config": []}}
    ),
    "transform: 10^8 views": transformed(
        {
            "module": "cabrnet.core.utils.custom_preprocess",
            "type": "AugmentationSplitter",
            "params": {"num_samples": 10**8, "transform": {"type": "ToTensor"}},
        }
    ),
    "transform: a module": transformed({"module": "os", "type": "system", "params": {"command": "true"}}),
    "notes: a field of 200 kB": noted(b"img_idx,h,w,score,proto_idx\n" + b'"' + b"1" * 200_000 + b'",0,0,0,0\n'),
    "notes: 5,000 digits": noted(b"img_idx,h,w,score,proto_idx\n" + b"9" * 5000 + b",0,0,0,0\n"),
    "notes: not UTF-8": noted(b"img_idx,h,w,score,proto_idx\n\xff,0,0,0,0\n"),
    "notes: NUL": noted(b"img_idx,h,w,score,proto_idx\n0,0,0,0,\x000\n"),
    "notes: 100,000 lines": noted(b"img_idx,h,w,score,proto_idx\n" + b"0,0,0,0,0\n" * 80_000),
    "image: 50,000 x 50,000": shown(50_000, 50_000),
    "image: 13,000 x 13,000": shown(13_000, 13_000),
    "image: 60,000 x 1, enlarged": shown(60_000, 1, {"type": "Resize", "params": {"size": 224}}),
}
"""For each attack, a function that writes its files into a folder and returns the command that reads them."""
