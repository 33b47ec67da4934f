"""The manifest of a version: everything there is to know about it, as one JSON file that never changes.

A section of facts (`explicit`, `derived`, and `state` for what updates need besides) is a list of *layers*, oldest
first. A layer takes facts away and adds others: `facts = (older layers ∖ deleted) ∪ added`. What a layer deletes was
there before it, and what it adds was not. The first layer only adds. So a small change is a small layer, and all older
files are shared with the version before.

Paths are relative to the store, so that a store can be moved.

Each file has a *fingerprint* there, its size and a checksum of what is in it, and the manifest has a checksum of itself: a
store that is not as it was written is noticed. Manifests of format 1 have neither, and are read without. Since format 4
predicates may have names of columns, since format 5 those of the files that their facts came from, and a store of an
ontology says how that was translated. Since format 6 a version says how far the streams of changes had come that were
written into the store.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar
from zlib import crc32

from everlog.errors import EverlogError, Failure

FORMAT: Final = 6
FOLDER: Final = "manifest"
CURRENT: Final = "CURRENT"
SECTIONS: Final = ("dictionary", "explicit", "derived", "state")


class NoStore(EverlogError):
    """A path that holds no store, or not the version that was asked for."""


class NewerStore(EverlogError):
    """A store that a newer Everlog has written."""


class DamagedStore(Failure):
    """A store with a file, named as in manifests, that is missing or not as it was written; `what` says what is wrong."""

    def __init__(self, store: Path, file: str, what: str, version: int | None = None) -> None:
        needed = "" if version is None else f" of version {version}"
        check = f"`everlog check {shlex.quote(str(store))}`"
        super().__init__(f"the store {store} is damaged: {file}{needed} {what}; {check} says which versions are whole")
        self.file = file
        self.what = what


def store_of(file: Path) -> Path | None:
    """The store that a file of a section belongs to, if any."""
    stores = (place.parent for place in file.parents if place.name in SECTIONS)
    return next((store for store in stores if (store / FOLDER).is_dir()), None)


@dataclass(frozen=True)
class Part:
    """Files with the facts of one predicate, or a part of the dictionary, and how many rows they have together."""

    files: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Fingerprint:
    """What a file was when it was written: its bytes, and the CRC-32 of all and of the last ones, as hexadecimal digits.

    How many the last ones are, `fingerprints.py` says. In a Parquet file they say what is where.
    """

    size: int
    crc32: str
    end: str


@dataclass(frozen=True)
class Layer:
    """What one change did to a section, by predicate."""

    added: Mapping[str, Part] = field(default_factory=dict)
    deleted: Mapping[str, Part] = field(default_factory=dict)

    def rows(self) -> int:
        return sum(part.rows for part in (*self.added.values(), *self.deleted.values()))


@dataclass(frozen=True)
class StreamPosition:
    """How far a stream of changes has come: its last batch, and where its sources were after it, in their own words."""

    batch: int
    offsets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """One version of a store."""

    version: int
    program: str
    options: Mapping[str, Any]
    arities: Mapping[str, int]
    dictionary: tuple[Part, ...] = ()
    explicit: tuple[Layer, ...] = ()
    derived: tuple[Layer, ...] = ()
    state: tuple[Layer, ...] = ()
    """By relations with names of their own, see `everlog.engine.kept_kinds`."""
    state_arities: Mapping[str, int] = field(default_factory=dict)
    state_kinds: tuple[str, ...] = ()
    """What is kept; a kind may have no relation, if there is nothing of it."""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Per predicate, the number of `explicit` and of `derived` facts."""
    statistics: Mapping[str, Any] = field(default_factory=dict)
    fingerprints: Mapping[str, Fingerprint] = field(default_factory=dict)
    """By file; files that were written before there were fingerprints have none."""
    written: str = ""
    """When, in ISO form; older manifests do not say."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Per predicate the names of its arguments, where a table had some; the field is left out if there are none."""
    ontology: Mapping[str, str | bool] = field(default_factory=dict)
    """How the ontology became rules that the program has from it; the field is left out if there is none."""
    given_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Per predicate the files that its explicit facts came from (`given_files.py`); left out if none are known."""
    streams: Mapping[str, StreamPosition] = field(default_factory=dict)
    """By the id of a streaming query what of it is in this version; the field is left out if there was none."""
    format: int = FORMAT

    @property
    def dictionary_size(self) -> int:
        return sum(part.rows for part in self.dictionary)

    def layers(self, section: str) -> tuple[Layer, ...]:
        """The layers of `explicit`, `derived` or `state`."""
        return {"explicit": self.explicit, "derived": self.derived, "state": self.state}[section]

    @property
    def files(self) -> dict[str, list[str]]:
        """The files by section: `dictionary`, `explicit/<predicate>`, `derived/<predicate>`, `state/<relation>`."""
        found: dict[str, list[str]] = {}
        for section, part in self.parts():
            found.setdefault(section, []).extend(part.files)
        return found

    def all_files(self) -> Iterator[str]:
        """Every file, once."""
        return (file for _, part in self.parts() for file in part.files)

    def parts(self) -> Iterator[tuple[str, Part]]:
        """All parts, each with its section as `files` names it."""
        for part in self.dictionary:
            yield "dictionary", part
        for section in ("explicit", "derived", "state"):
            for layer in self.layers(section):
                for parts in (layer.added, layer.deleted):
                    for predicate, part in parts.items():
                        yield f"{section}/{predicate}", part


def number(version: int) -> str:
    """A version as it is written: `000007`."""
    return f"{version:06d}"


def manifest_path(store: Path, version: int) -> Path:
    return store / _file(version)


def _file(version: int) -> str:
    return f"{FOLDER}/{number(version)}.json"


def write_manifest(manifest: Manifest) -> str:
    """The text of a manifest."""
    data = json.loads(json.dumps({"everlog": "store", **asdict(manifest)}))
    for name in ("columns", "given_files", "ontology", "streams"):
        if not data[name]:
            del data[name]
    return json.dumps({**data, _CHECKSUM: _checksum(data)}, ensure_ascii=False, indent=1) + "\n"


def read_manifest(store: Path, version: int) -> Manifest:
    """The manifest of a version, or `NoStore`, `NewerStore`, `DamagedStore`."""
    name = _file(version)
    try:
        data = json.loads((store / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoStore(f"the store {store} has no version {version}") from None
    except (OSError, ValueError, RecursionError) as mistake:
        raise DamagedStore(store, name, f"cannot be read: {mistake}") from None
    if not isinstance(data, dict) or data.get("everlog") != "store" or type(data.get("format")) is not int:
        raise DamagedStore(store, name, "is no manifest of a store")
    if data["format"] > FORMAT:
        raise NewerStore(
            f"the store {store} has format {data['format']}, and this Everlog knows up to {FORMAT}: "
            "upgrade Everlog to read it"
        )
    checksum = data.pop(_CHECKSUM, None)
    if data["format"] > 1 and checksum != _checksum(data):
        raise DamagedStore(store, name, "is not as it was written: its checksum is another")
    try:
        manifest = _manifest(data)
    except KeyError as missing:
        raise DamagedStore(store, name, f"has no field {missing}") from None
    except (TypeError, ValueError) as mistake:
        raise DamagedStore(store, name, f"is no manifest of a store: {mistake}") from None
    if manifest.version != version:
        raise DamagedStore(store, name, f"is the manifest of version {manifest.version}")
    return manifest


def current_version(store: Path) -> int:
    """The number of the newest version, or `NoStore`, `DamagedStore`."""
    try:
        text = (store / CURRENT).read_bytes().strip()
    except (FileNotFoundError, NotADirectoryError):
        if not store.exists():
            raise NoStore(f"there is no store at {store}") from None
        if looks_unfinished(store):
            raise NoStore(f"the store at {store} was never finished: make it again with `everlog init`") from None
        raise NoStore(f"{store} is no store: it has no file {CURRENT}") from None
    if not text.isdigit() or not int(text):
        raise DamagedStore(store, CURRENT, "names no version")
    return int(text)


def current_manifest(store: Path) -> Manifest:
    """The manifest of the newest version, or `NoStore`, `NewerStore`, `DamagedStore`."""
    return committed_manifest(store, current_version(store))


def committed_manifest(store: Path, version: int) -> Manifest:
    """The manifest of a version that `CURRENT` names, or once did; or `NewerStore`, `DamagedStore`."""
    try:
        return read_manifest(store, version)
    except NoStore:
        raise DamagedStore(store, _file(version), f"is missing, and {CURRENT} names version {version}") from None


def looks_unfinished(store: Path) -> bool:
    """Whether a folder holds nothing but what a store's maker leaves behind when it dies before the first version."""
    if not (store / FOLDER).is_dir():
        return False
    ours = {FOLDER, *SECTIONS, "LOCK", f"{CURRENT}.new"}
    return all(entry.name in ours for entry in store.iterdir())


_CHECKSUM: Final = "checksum"
"""The field of a manifest that has the checksum of the others."""


def _checksum(data: Mapping[str, Any]) -> str:
    """The CRC-32 of what a manifest says; how it is laid out does not matter."""
    return f"{crc32(json.dumps(data).encode('ascii')):08x}"


_Kind = TypeVar("_Kind", int, str, "dict[str, Any]", "list[Any]")


def _typed(value: Any, kind: type[_Kind], what: str) -> _Kind:
    if type(value) is not kind:
        raise TypeError(f"{what} is {value!r:.40}, which is no {kind.__name__}")
    return value


def _by_name(data: Any, kind: type[_Kind], what: str) -> dict[str, _Kind]:
    return {name: _typed(value, kind, f"{what} of {name}") for name, value in _typed(data, dict, what).items()}


def _all(data: Any, kind: type[_Kind], what: str) -> tuple[_Kind, ...]:
    return tuple(_typed(value, kind, f"one of {what}") for value in _typed(data, list, what))


def _lists(data: dict[str, Any], what: str) -> dict[str, tuple[str, ...]]:
    """Texts by predicate, of a field that may be left out."""
    return {
        name: _all(texts, str, f"{what} of {name}") for name, texts in _by_name(data.get(what, {}), list, what).items()
    }


def _manifest(data: dict[str, Any]) -> Manifest:
    """A manifest from its fields; KeyError, TypeError or ValueError where one is missing, of another type, or unknown."""
    unknown = set(data) - set(Manifest.__dataclass_fields__) - {"everlog"}
    if unknown:
        raise ValueError(f"the field {min(unknown)!r} is not known")
    return Manifest(
        version=_typed(data["version"], int, "version"),
        program=_typed(data["program"], str, "program"),
        options=_options(_typed(data["options"], dict, "options")),
        arities=_by_name(data["arities"], int, "arities"),
        dictionary=tuple(map(_part, _all(data["dictionary"], dict, "dictionary"))),
        explicit=tuple(map(_layer, _all(data["explicit"], dict, "explicit"))),
        derived=tuple(map(_layer, _all(data["derived"], dict, "derived"))),
        state=tuple(map(_layer, _all(data["state"], dict, "state"))),
        state_arities=_by_name(data.get("state_arities", {}), int, "state_arities"),
        state_kinds=_all(data["state_kinds"], str, "state_kinds"),
        counts={
            name: _by_name(counts, int, f"counts of {name}")
            for name, counts in _by_name(data.get("counts", {}), dict, "counts").items()
        },
        statistics=_typed(data.get("statistics", {}), dict, "statistics"),
        fingerprints={
            file: Fingerprint(
                _typed(found["size"], int, "size"),
                _typed(found["crc32"], str, "crc32"),
                _typed(found["end"], str, "end"),
            )
            for file, found in _by_name(data.get("fingerprints", {}), dict, "fingerprints").items()
        },
        written=_typed(data.get("written", ""), str, "written"),
        columns=_lists(data, "columns"),
        given_files=_lists(data, "given_files"),
        ontology={
            name: value if type(value) is bool else _typed(value, str, name)
            for name, value in _typed(data.get("ontology", {}), dict, "ontology").items()
        },
        streams={
            name: StreamPosition(
                _typed(found["batch"], int, "batch"), _all(found.get("offsets", []), str, f"offsets of {name}")
            )
            for name, found in _by_name(data.get("streams", {}), dict, "streams").items()
        },
        format=data["format"],
    )


def _options(data: Mapping[str, Any]) -> dict[str, str | bool | int]:
    """The options of a knowledge base; earlier manifests have lists and truth values as Python prints them."""
    found: dict[str, str | bool | int] = {
        name: value if type(value) in (bool, int) else _typed(value, str, name) for name, value in data.items()
    }
    modules = found.get("modules")
    if isinstance(modules, str) and modules.startswith(("[", "(")):
        found["modules"] = ",".join(re.findall(r"\w+", modules))
    if isinstance(found.get("checked"), str):
        found["checked"] = found["checked"] == "True"
    return found


def _part(data: dict[str, Any]) -> Part:
    files, rows = _all(data["files"], str, "files"), _typed(data["rows"], int, "rows")
    if rows < 0 or (rows and not files):
        raise ValueError(f"{len(files)} files have {rows} rows")
    return Part(files, rows)


def _layer(data: dict[str, Any]) -> Layer:
    added, deleted = (
        {name: _part(part) for name, part in _by_name(data[what], dict, what).items()} for what in ("added", "deleted")
    )
    return Layer(added, deleted)
