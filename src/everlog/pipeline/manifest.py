"""The manifest of a version: everything there is to know about it, as one JSON file that never changes.

A section of facts (`explicit`, `derived`, and `state` for what updates need besides) is a list of *layers*, oldest
first. A layer takes facts away and adds others: `facts = (older layers ∖ deleted) ∪ added`. What a layer deletes was
there before it, and what it adds was not. The first layer only adds. So a small change is a small layer, and all older
files are shared with the version before.

Paths are relative to the store, so that a store can be moved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from everlog.errors import EverlogError

FORMAT: Final = 1
FOLDER: Final = "manifest"
CURRENT: Final = "CURRENT"
SECTIONS: Final = ("dictionary", "explicit", "derived", "state")


class NoStore(EverlogError):
    """A path that holds no store, or not the version that was asked for."""


class NewerStore(EverlogError):
    """A store that a newer Everlog has written."""


@dataclass(frozen=True)
class Part:
    """Files with the facts of one predicate, or a part of the dictionary, and how many rows they have together."""

    files: tuple[str, ...]
    rows: int


@dataclass(frozen=True)
class Layer:
    """What one change did to a section, by predicate."""

    added: Mapping[str, Part] = field(default_factory=dict)
    deleted: Mapping[str, Part] = field(default_factory=dict)

    def rows(self) -> int:
        return sum(part.rows for part in (*self.added.values(), *self.deleted.values()))


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
    """By relations with names of their own, see `everlog.saved`."""
    state_arities: Mapping[str, int] = field(default_factory=dict)
    state_kinds: tuple[str, ...] = ()
    """What is kept; a kind may have no relation, if there is nothing of it."""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Per predicate, the number of `explicit` and of `derived` facts."""
    statistics: Mapping[str, Any] = field(default_factory=dict)
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
        for section, part in self._parts():
            found.setdefault(section, []).extend(part.files)
        return found

    def _parts(self) -> Iterator[tuple[str, Part]]:
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
    return store / FOLDER / f"{number(version)}.json"


def write_manifest(manifest: Manifest) -> str:
    """The text of a manifest."""
    return json.dumps({"everlog": "store", **asdict(manifest)}, ensure_ascii=False, indent=1) + "\n"


def read_manifest(store: Path, version: int) -> Manifest:
    """The manifest of a version, or `NoStore`, or `NewerStore`."""
    path = manifest_path(store, version)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NoStore(f"the store {store} has no version {version}") from None
    except (ValueError, UnicodeDecodeError) as mistake:
        raise NoStore(f"{path} is no manifest of a store: {mistake}") from None
    if not isinstance(data, dict) or data.pop("everlog", None) != "store" or not isinstance(data.get("format"), int):
        raise NoStore(f"{path} is no manifest of a store")
    if data["format"] > FORMAT:
        raise NewerStore(
            f"the store {store} has format {data['format']}, and this Everlog knows up to {FORMAT}: "
            "upgrade Everlog to read it"
        )
    try:
        return Manifest(
            **{
                **data,
                "options": _options(data["options"]),
                "dictionary": tuple(map(_part, data["dictionary"])),
                "explicit": tuple(map(_layer, data["explicit"])),
                "derived": tuple(map(_layer, data["derived"])),
                "state": tuple(map(_layer, data["state"])),
                "state_kinds": tuple(data["state_kinds"]),
            }
        )
    except (KeyError, TypeError, AttributeError) as mistake:
        raise NoStore(f"{path} is no manifest of a store: {mistake!r}") from None


def current_version(store: Path) -> int:
    """The number of the newest version, or `NoStore`."""
    try:
        text = (store / CURRENT).read_text(encoding="ascii")
        return int(text)
    except (FileNotFoundError, NotADirectoryError):
        if not store.exists():
            raise NoStore(f"there is no store at {store}") from None
        if looks_unfinished(store):
            raise NoStore(f"the store at {store} was never finished: make it again with `everlog init`") from None
        raise NoStore(f"{store} is no store: it has no file {CURRENT}") from None
    except ValueError:
        raise NoStore(f"{store} is no store: its file {CURRENT} names no version") from None


def looks_unfinished(store: Path) -> bool:
    """Whether a folder holds nothing but what a store's maker leaves behind when it dies before the first version."""
    if not (store / FOLDER).is_dir():
        return False
    ours = {FOLDER, *SECTIONS, "LOCK", f"{CURRENT}.new"}
    return all(entry.name in ours for entry in store.iterdir())


def _options(data: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a knowledge base; earlier manifests have lists and truth values as Python prints them."""
    found = dict(data)
    modules = found.get("modules")
    if isinstance(modules, str) and modules.startswith(("[", "(")):
        found["modules"] = ",".join(re.findall(r"\w+", modules))
    if isinstance(found.get("checked"), str):
        found["checked"] = found["checked"] == "True"
    return found


def _part(data: Mapping[str, Any]) -> Part:
    return Part(tuple(data["files"]), data["rows"])


def _by_name(data: Mapping[str, Any]) -> dict[str, Part]:
    return {name: _part(part) for name, part in data.items()}


def _layer(data: Mapping[str, Any]) -> Layer:
    return Layer(_by_name(data["added"]), _by_name(data["deleted"]))
