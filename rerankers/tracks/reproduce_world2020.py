"""The evaluation data of 2020 in one place, for all that is computed from it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rerankers._base.errors import InputError, MissingError
from rerankers._base.files import read_lines
from rerankers._base.streams import query_streams
from rerankers.collections.trec_samples import read_sample
from rerankers.policies import GradeShuffle
from rerankers.tracks.evaluate2020 import judge
from rerankers.tracks.explained2020 import explain
from rerankers.tracks.groups2020 import groups_of_file
from rerankers.tracks.judged2020 import Judged, read_judged
from rerankers.tracks.lists import Lists, read_lists
from rerankers.tracks.scoring2020 import Scene, Scored, score
from rerankers.tracks.trec2020 import Trec2020, preset
from rerankers.values import Ids, Ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.measures.evidence import Evidence
    from rerankers.policies import Policy
    from rerankers.tracks.preset import Outcome

FOLDER = "trec-fair-2020"
SAMPLE = "TREC-Fair-Ranking-eval-sample.json"
ANNOTATIONS = "merged-annotations.json"
OFFICIAL: Trec2020 = preset("trec2020_rerank_official")


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Queries, candidates in the order of the query file, judgments and groups.

    Attributes
    ----------
    folder
        of the data.
    qids, docs, over
        the Q queries, sorted documents, candidates (nnz pairs).
    grade
        float64 (nnz,).
    stream
        uint64 (Q, 2).
    judged
        the judgments as the official form reads them.
    """

    folder: Path
    qids: tuple[str, ...]
    docs: Ids
    over: Ragged
    grade: NDArray[np.float64]
    stream: NDArray[np.uint64]
    judged: Judged

    def judge(
        self,
        lists: Mapping[str, Lists],
        form: Trec2020 = OFFICIAL,
        grouped: bool = True,
        seed: int = 0,
        permutations: int = 0,
    ) -> Outcome:
        """Score rankings under a form, with the groups of the annotations or without groups; labels may be shuffled."""
        groups = self.folder / ANNOTATIONS if grouped else None
        return judge(form, self.judged, lists, groups, seed, permutations)

    def drawn(self, name: str, policy: Policy, draws: int, seed: int) -> Lists:
        """Return rankings of a policy over the candidates."""
        return Lists(name, self.qids, self.docs, policy.sample(draws, seed), {})

    def shuffle(self, level: NDArray[np.float64]) -> GradeShuffle:
        """Return the policy that shuffles within levels, the highest first."""
        return GradeShuffle(self.over, level, self.stream)

    def exact(self, policy: Policy) -> dict[str, float]:
        """Return the means that the exact exposure of a policy gives.

        Raises
        ------
        ValueError
            when it has none.
        """
        values = self._scored(policy, self._scene()).values
        return {key: float(np.mean(value)) for key, value in values.items()}

    def evidence(self, policies: Mapping[str, Policy], seed: int, permutations: int) -> dict[str, Evidence]:
        """Return what stands behind the group losses that the exact exposures of policies give.

        Raises
        ------
        ValueError
            when one has none.
        """
        scene = self._scene()
        scored = {name: self._scored(policy, scene) for name, policy in policies.items()}
        missing = dict.fromkeys(policies, np.zeros(len(self.qids), dtype=bool))
        return dict(explain(scored, missing, scene, self.qids, seed, permutations).evidence)

    def _scene(self) -> Scene:
        judgments, _ = self.judged.judgments(self.docs)
        groups = groups_of_file(self.folder / ANNOTATIONS, self.docs, judgments, OFFICIAL.group_rules)
        return Scene(judgments, groups.member, groups.alignment, OFFICIAL.rules)

    def _scored(self, policy: Policy, scene: Scene) -> Scored:
        exposure = policy.exposure(scene.bind(self.over))
        if exposure is None:
            raise ValueError("the policy has no exact exposure")
        nothing = np.zeros(len(scene.judgments), dtype=bool)
        return score(exposure, scene, nothing, nothing)

    def submission(self, name: str) -> Lists:
        """Read a submission.

        Raises
        ------
        MissingError
            when it is not there.
        """
        path = self.file(f"rerank_submissions/{name}.jsonl.gz")
        return read_lists(path, OFFICIAL.duplicates, OFFICIAL.empty_ranking)

    def file(self, name: str) -> Path:
        """Return a file of the folder.

        Raises
        ------
        MissingError
            when it is not there.
        """
        return _existing(self.folder, name)

    def queries_with(self, which: NDArray[np.bool_]) -> dict[str, NDArray[np.bool_]]:
        """Return group -> bool (Q,), the queries where a document of the group is among some (nnz,) candidates."""
        judgments, _ = self.judged.judgments(self.docs)
        found = groups_of_file(self.folder / ANNOTATIONS, self.docs, judgments, OFFICIAL.group_rules).alignment
        totals = found.totals(self.over.row_index, self.over.doc.astype(np.int64), which.astype(float), len(self.qids))
        return {name: totals[:, place] > 0 for place, name in enumerate(found.groups)}

    def features(self, name: str, columns: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """Read numbers of (query, candidate) pairs, each float64 (nnz,), 0 where there is none.

        Raises
        ------
        MissingError
            when the file is not there.
        InputError
            when it lacks a column, or a number is none.
        """
        path = self.file(name)
        rows = csv.DictReader(text for _, text in read_lines(path))
        try:
            header, body = rows.fieldnames or (), list(rows)
        except csv.Error as error:
            raise InputError.one(str(path), str(error), "the published table", line=rows.line_num) from error
        for column in ("qid", "doc_id", *columns):
            if column not in header:
                raise InputError.one(str(path), f"no column {column}", "the published columns")
        given: dict[tuple[str, str], dict[str, str]] = {(row["qid"], row["doc_id"]): row for row in body}
        pairs = [(self.qids[row], doc) for row, doc in zip(self.over.row_index, self._docnos, strict=True)]
        try:
            return {
                column: np.array([float(given.get(pair, {}).get(column) or 0.0) for pair in pairs])
                for column in columns
            }
        except ValueError as error:
            raise InputError.one(str(path), str(error), "numbers, or nothing") from error

    @property
    def _docnos(self) -> list[str]:
        return self.docs.take(self.over.doc)


def read_estimates(world: World, name: str) -> NDArray[np.float64]:
    """Read relevance estimates, float64 (nnz,); a pair without one has 0."""
    return world.features(name, ["est_relevance"])["est_relevance"]


def read_world(data: Path) -> World:
    """Read the evaluation data.

    Raises
    ------
    MissingError
        when a file is not there.
    """
    folder = data / FOLDER
    path = _existing(folder, SAMPLE)
    _existing(folder, ANNOTATIONS)
    sample = read_sample(path)
    docs, code = Ids.coded(sample.docno)
    qids = tuple(sample.topics.ids.names.to_pylist())
    over = Ragged(np.arange(len(qids), dtype=np.int32), sample.indptr, code)
    judged = read_judged(path, OFFICIAL.pair_rules)
    return World(folder, qids, docs, over, sample.grade.astype(np.float64), query_streams(qids), judged)


def _existing(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise MissingError(f"{folder.name}/{name}")
    return folder / name
