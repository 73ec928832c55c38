r"""A scholarly search world drawn from a seed, of any size, in which the truth is known.

The model, in the order in which things are drawn. N documents, T topics, K = max(8, ⌊N/20⌋) themes on a ring,
V = 1000 + ⌊300 √N⌋ made-up words; σ(x) = 1 / (1 + e^-x). Whatever belongs to a document is drawn from the stream of its
block of 1,024, so that no text depends on who asks for it, when, or with how many workers.

People. A = max(5, 2N) possible authors. Each has a home theme (uniform), an ``economy`` (advanced with probability
0.65, else developing) and a ``region`` (east .2, north .4, south .3, west .1), all independent. A document has 0 to 5
authors (.02, .33, .30, .20, .10, .05). The first is drawn by productivity, P(rank < r) = ((1 + r/q)^0.2 - 1) /
(401^0.2 - 1) with q = A/400 (Zipf and Mandelbrot); each further one by productivity too, with probability
``collaboration`` among all, else among those of the first one's economy. ``career`` is established for authors of at
least 3 documents, else early. ``access`` of documents is open with probability 0.4, independent of everything: there,
every difference between groups is chance.

Documents. The main theme k is the first author's home (probability .75) or uniform; the other two are k ± i and k ∓ j
with uniform i, j in 1, 2, 3. The shares θ are the squares of three standard exponentials divided by their sum, the
largest for the main theme. Quality z is standard normal. Document i of N is of the year 1995 + ⌊30 (i/N)^0.6⌋ and cites
earlier ones: Poisson(4) references, each with probability 1/2 a copy of a uniformly drawn earlier one, else to the
better (by z) of two uniformly drawn earlier documents.

Texts. A title has 4 to 9 words, an abstract ⌊90 e^(0.4 ε)⌋ with standard normal ε, at least 15 and at most 300. A word
speaks of a theme with probability φ: then the theme is drawn from θ and the word from the theme's 80 words (uniform
draws from the vocabulary, in a fixed order); otherwise it is drawn from the whole vocabulary; both times by Zipf's law,
P(rank = r) = log((r + 2)/(r + 1)) / log(size + 1) with r from 0. Here

    φ = σ(logit(φ0) + bias · (m - 1/2)),   φ0 = .8 in titles, .5 in abstracts,

and m is the share of authors from advanced economies (1/2 without authors). So ``bias`` is the log odds ratio of
speaking to the point between documents of advanced and of developing authors: positive makes term matching over-expose
the former beyond their relevance, negative the latter, and at 0 texts and groups are independent, hence groups are
independent of exposure given relevance. True labels count here, known or not.

Topics. A topic is written from a source document drawn uniformly; its shares q are those of the source's two heaviest
themes, divided by their sum. A query has 4 to 8 words, drawn like those of a text with θ = q and φ = .9, each word once
(fewer when 8 times as many draws hold no more different ones). Variants of a topic are further such draws.

Relevance. With the affinity a(t, d) = Σ_k √(q_k θ_k), the probability that d is relevant to t is

    ρ = 1 for the source,   ρ = σ(12 a + 0.7 z - c_t) for other documents with a > 0,   ρ = 0 for the rest,

where c_t makes Σ_d ρ equal to ``relevant`` (at most half of the documents with a > 0); then ρ below 0.01 becomes 0. It
depends on themes and quality, not on words or groups. Grades are 0 to 3 with P(grade ≥ g) = 2 (ρ/2)^g: the grade is
#{g: u < 2 (ρ/2)^g} for a uniform u. These u are independent over documents (``labels="independent"``), or Φ(√c f +
√(1 - c) ε) with a standard normal f of the topic, ε of the document and c = ``correlation`` (``labels="correlated"``);
the marginals are the same in both. Judged are all documents with ρ > 0 and up to ``judged_sample`` others: every
unjudged document has ρ = 0. The source is relevant with certainty, so that no topic is without a relevant document.

Unknown. The label of an author is hidden with probability ``unknown_share``, that of ``access`` likewise, independently
for each attribute. A document is unknown when none of its authors' labels is known (at the default about one in ten).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, make_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rerankers._base.errors import ConfigError, choose
from rerankers._base.fingerprint import fingerprint
from rerankers.collections.split import check_split, split_collection
from rerankers.collections.world import World, WorldSpec
from rerankers.collections.world_census import Census, numbered, pool
from rerankers.collections.world_citations import author_facts, citation_counts, years
from rerankers.collections.world_groups import access_labels, author_labels
from rerankers.collections.world_relevance import draw_grades, grade_probability, relevance_probability
from rerankers.collections.world_store import MODEL, GeneratedDocuments
from rerankers.collections.world_text import made_up_words
from rerankers.collections.world_topics import Needs
from rerankers.values.authors import Authors
from rerankers.values.collection import Collection, Topics
from rerankers.values.ids import Ids
from rerankers.values.qrels import met
from rerankers.values.ragged import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rerankers.values.labels import Labels

MOST_DOCUMENTS = 10_000_000
LABEL_LAWS = ("independent", "correlated")


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated world; the module's text states its model.

    Parameters
    ----------
    seed
        any integer: another seed is another world.
    documents
        N, 2 to 10,000,000.
    topics
        T, at least 1.
    variants
        queries a topic, at least 1; the second of topic 12 has the id ``12-2``. Variants share their judgments.
    relevant
        expected number of relevant documents a topic, at least 1.
    judged_sample
        judged documents a topic besides those that may be relevant, at least 0.
    labels
        ``independent`` or ``correlated``.
    correlation
        c of correlated labels, from 0 to below 1; without effect on independent ones.
    bias
        log odds ratio of speaking to the point, finite; 0: groups are independent of texts.
    unknown_share
        probability that a label is hidden, 0 to 1.
    collaboration
        probability that a co-author is drawn from both economies, 0 (teams of one economy) to 1 (random teams).
    split
        ``train`` or ``eval``: the topics of that side of a world that is otherwise the same; None: all topics.
    train_share
        share of the topics in ``train``, strictly between 0 and 1.

    Raises
    ------
    ConfigError
        for a value out of its range.
    """

    seed: int = 0
    documents: int = 2000
    topics: int = 50
    variants: int = 1
    relevant: float = 15.0
    judged_sample: int = 50
    labels: str = "independent"
    correlation: float = 0.3
    bias: float = 1.0
    unknown_share: float = 0.2
    collaboration: float = 0.5
    split: str | None = None
    train_share: float = 0.5

    def __post_init__(self) -> None:
        check_split(self.split, self.train_share)
        choose("collection.labels", self.labels, LABEL_LAWS)
        ranges = {
            "documents": (2, MOST_DOCUMENTS),
            "topics": (1, 2**31 - 1),
            "variants": (1, 1000),
            "relevant": (1, MOST_DOCUMENTS),
            "judged_sample": (0, MOST_DOCUMENTS),
            "correlation": (0, np.nextafter(1, 0)),
            "bias": (-50, 50),
            "unknown_share": (0, 1),
            "collaboration": (0, 1),
        }
        for name, (low, high) in ranges.items():
            value = getattr(self, name)
            whole = name in ("documents", "topics", "variants", "judged_sample")
            if not low <= value <= high or (whole and int(value) != value):
                kind = "a whole number" if whole else "a number"
                bound = "below 1" if name == "correlation" else f"at most {high:,}"
                raise ConfigError(f"collection.{name}: found {value}; expected {kind} of at least {low:,} and {bound}")

    @property
    def spec(self) -> WorldSpec:
        """What the documents depend on."""
        return WorldSpec(self.seed, self.documents, float(self.bias), float(self.collaboration))

    def load(self) -> Collection:
        """Draw the world. Texts are drawn when asked for.

        ``truth`` holds ``relevance_probability`` (nnz,) and ``grade_probability`` (nnz, 4), aligned with the judged
        pairs, and ``labels_{attribute}``, the true labels, aligned with those of ``groups``.
        """
        world = World.of(self.spec)
        needs = Needs.of(world, self.topics)
        census = Census.of(world, needs)
        judgments, truth = self._judgments(needs, census)
        groups, authors, true_labels = self._groups(world, census)
        cited = citation_counts(self.seed, census.quality)
        counts = {"documents": self.documents, "queries": self.topics * self.variants, "judgments": judgments.nnz}
        collection = Collection(
            name="generated",
            docs=Ids.of(numbered("d", np.arange(1, self.documents + 1)), "docno"),
            topics=self._topics(world, needs),
            judgments=judgments,
            fingerprint=fingerprint("generated", MODEL, _whole_world(self)),
            groups=groups,
            authors=Authors(authors.ids, authors.indptr, authors.author, author_facts(authors, cited)),
            fields={"year": years(self.documents).astype(float), "cited_by_count": cited.astype(float)},
            documents=GeneratedDocuments(self.spec),
            truth={**truth, **{f"labels_{attribute}": codes for attribute, codes in true_labels.items()}},
            counts=met(**counts),
        )
        return split_collection(collection, self.split, self.train_share)

    def _topics(self, world: World, needs: Needs) -> Topics:
        words = made_up_words(self.seed, world.vocabulary)
        qids, texts, numbers = [], [], []
        for topic in range(self.topics):
            for variant in range(self.variants):
                qids.append(f"{topic + 1}-{variant + 1}" if variant else f"{topic + 1}")
                texts.append(" ".join([words[code] for code in needs.query(world, topic, variant)]))
                numbers.append(topic)
        return Topics.of(qids, texts, numbers)

    def _judgments(self, needs: Needs, census: Census) -> tuple[Judgments, Mapping[str, NDArray[Any]]]:
        pairs = census.pairs
        starts = np.searchsorted(pairs.topic, np.arange(self.topics + 1))
        is_source = pairs.doc == needs.source[pairs.topic]
        rho = relevance_probability(pairs.score, is_source, starts, self.relevant)
        indptr, doc, rho = pool(self.seed, self.topics, self.documents, self.judged_sample, pairs, rho)
        names = [str(topic + 1) for topic in range(self.topics)]
        correlation = self.correlation if self.labels == "correlated" else 0.0
        grade = draw_grades(rho, indptr, names, self.seed, correlation)[0]
        each = np.repeat(np.arange(self.topics), self.variants)
        rows = Judgments(
            np.arange(self.topics, dtype=np.int32), indptr, doc.astype(np.int32), {"grade": grade, "rho": rho}
        ).take(each)
        judgments = Judgments(np.arange(len(each), dtype=np.int32), rows.indptr, rows.doc, {"grade": rows.grade})
        rho = rows.columns["rho"]
        return judgments, {"relevance_probability": rho, "grade_probability": grade_probability(rho)}

    def _groups(self, world: World, census: Census) -> tuple[dict[str, Labels], Authors, dict[str, NDArray[np.int32]]]:
        authors, who = census.authors()
        labels, true = author_labels(self.seed, world.people, who, authors, self.unknown_share)
        labels["access"], true["access"] = access_labels(self.seed, self.documents, self.unknown_share)
        return labels, authors, true


def _whole_world(options: Generated) -> object:
    """Return the options that the world depends on, in a form whose fingerprint is that of worlds never split."""
    names = [field.name for field in fields(options) if field.name not in ("split", "train_share")]
    return make_dataclass("Generated", names)(*(getattr(options, name) for name in names))
