"""Collections of archaeological artefacts, in the vocabulary of Claros (CIDOC CRM), made by Spark jobs.

A collection has places, artefacts that were found there, people who made them, and documents that refer to places and
artefacts. Under the extended rules of Claros two places are related when one document refers to both, or when they
refer to each other, and being related is symmetric and transitive: the places of a collection form a clique. Documents
that refer to the same place, and artefacts that the same document refers to, form further ones. A clique is what makes
deletions hard, since all its facts depend on one another.

Most collections are small and one in ten is large. A collection depends on its number and the seed alone. No triple
comes twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from benchmarks.generators.generation import TYPE, Range, Triple, generated, write_ntriples

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CRM: Final = "http://purl.org/NET/crm-owl#"
FOAF: Final = "http://xmlns.com/foaf/0.1/"

_MATERIALS: Final = ("Bronze", "Clay", "Glass", "Gold", "Iron", "Marble", "Silver", "Stone")
_KINDS: Final = ("Amphora", "Coin", "Fibula", "Gem", "Krater", "Lamp", "Relief", "Statue")


@dataclass(frozen=True)
class Profile:
    """A collection; `large` is the range of places of one collection in ten."""

    small: Range = (5, 25)
    large: Range = (100, 200)
    artefacts_per_place: Range = (4, 8)
    artefacts_per_maker: int = 12
    places_per_document: int = 2
    references: Range = (1, 3)
    images: Range = (0, 2)
    collections_per_large: int = 10
    regions: int = 3


PROFILE: Final = Profile()


def collection_triples(collection: int, seed: int = 0) -> Iterator[Triple]:
    """The triples of one collection, as N-Triples terms."""
    return _Collection(collection, seed).triples()


class _Collection:
    def __init__(self, number: int, seed: int) -> None:
        self._random = Random(f"claros/{seed}/{number}")
        self._number = number
        large = number % PROFILE.collections_per_large == PROFILE.collections_per_large - 1
        places = self._draw(PROFILE.large if large else PROFILE.small)
        self._places = self._several("place", places)
        self._artefacts = self._several("artefact", self._draw(PROFILE.artefacts_per_place, times=places))

    def triples(self) -> Iterator[Triple]:
        yield from self._geography()
        makers = self._several("maker", 1 + len(self._artefacts) // PROFILE.artefacts_per_maker)
        for number, maker in enumerate(makers):
            yield maker, TYPE, _crm("E21_Person")
            yield maker, _foaf("name"), f'"Maker {number} of collection {self._number}"'
        for number, artefact in enumerate(self._artefacts):
            yield from self._artefact(artefact, number, self._random.choice(makers))
        yield from self._documents()

    def _geography(self) -> Iterator[Triple]:
        """Places lie in regions, and regions in one country: falling within is transitive."""
        country = self._name("country", 0)
        yield country, TYPE, _crm("E53_Place")
        regions = self._several("region", PROFILE.regions)
        for region in regions:
            yield region, TYPE, _crm("E53_Place")
            yield region, _crm("P89_falls_within"), country
        for number, place in enumerate(self._places):
            yield place, TYPE, _crm("E53_Place")
            yield place, _crm("P89_falls_within"), self._random.choice(regions)
            yield place, _crm("P87_is_identified_by"), f"{place[:-1]}/name>"
            yield f"{place[:-1]}/name>", TYPE, _crm("E44_Place_Appellation")
            yield f"{place[:-1]}/name>", _crm("P3_has_note"), f'"Place {number}"'

    def _artefact(self, artefact: str, number: int, maker: str) -> Iterator[Triple]:
        production = f"{artefact[:-1]}/production>"
        yield artefact, TYPE, _crm("E22_Man-Made_Object")
        yield artefact, _crm("P2_has_type"), f"<http://claros.example.org/kind/{self._random.choice(_KINDS)}>"
        yield (
            artefact,
            _crm("P45_consists_of"),
            f"<http://claros.example.org/material/{self._random.choice(_MATERIALS)}>",
        )
        yield artefact, _crm("P102_has_title"), f"{artefact[:-1]}/title>"
        yield f"{artefact[:-1]}/title>", _crm("P3_has_note"), f'"Artefact {number}"'
        yield artefact, _crm("P53_has_former_or_current_location"), self._random.choice(self._places)
        yield artefact, _crm("P108i_was_produced_by"), production
        yield production, _crm("P14_carried_out_by"), maker
        yield production, _crm("P7_took_place_at"), self._random.choice(self._places)
        for image in range(self._draw(PROFILE.images)):
            yield f"{artefact[:-1]}/image{image}>", _crm("P138_represents"), artefact

    def _documents(self) -> Iterator[Triple]:
        """The first documents connect each place to one before it, so that the places are one clique."""
        pairs = [(place, self._random.randrange(place)) for place in range(1, len(self._places))]
        more = max(1, len(self._places) // PROFILE.places_per_document)
        pairs += [tuple(self._random.sample(range(len(self._places)), 2)) for _ in range(more)]  # type: ignore[misc]
        for document, (first, second) in zip(self._several("document", len(pairs)), pairs, strict=True):
            yield document, TYPE, _crm("E31_Document")
            yield document, _crm("P70_documents"), self._places[first]
            yield document, _crm("P70_documents"), self._places[second]
            for artefact in self._random.sample(self._artefacts, self._draw(PROFILE.references)):
                yield document, _crm("P67_refers_to"), artefact

    def _draw(self, within: Range, times: int = 1) -> int:
        least, most = within
        return self._random.randint(least * times, most * times)

    def _name(self, kind: str, number: int) -> str:
        return f"<http://claros.example.org/collection{self._number}/{kind}{number}>"

    def _several(self, kind: str, count: int) -> list[str]:
        return [self._name(kind, number) for number in range(count)]


def _crm(name: str) -> str:
    return f"<{CRM}{name}>"


def _foaf(name: str) -> str:
    return f"<{FOAF}{name}>"


def collections(spark: SparkSession, count: int, seed: int = 0) -> DataFrame:
    """The triples of `count` collections: string columns `a0`, `a1`, `a2` of N-Triples terms."""
    return generated(spark, collection_triples, "collections", count, seed)


def write_collections(spark: SparkSession, count: int, folder: Path, seed: int = 0) -> None:
    """The same as N-Triples files in a folder that does not exist yet."""
    write_ntriples(collections(spark, count, seed), folder, "collections")
