"""Files of tracks, groups, authors, variants and scores: data or one clear error, whatever is in them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import damaged, told
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import FairRerankersError
from rerankers.collections.annotations import read_annotations
from rerankers.collections.author_table import read_author_table
from rerankers.collections.gender_bias import read_fairness_queries, read_labelled_queries, read_query_notes
from rerankers.collections.gender_bias_forms import read_query_forms
from rerankers.collections.paper_tables import read_author_numbers, read_paper_authors, read_papers
from rerankers.collections.ragged_labels import read_ragged_labels
from rerankers.collections.trec_samples import read_sample
from rerankers.features.user_files import read_user_table
from rerankers.queries.topic_names import read_topic_names
from rerankers.queries.variant_files import read_variants
from rerankers.retrieval.listed import read_listed
from rerankers.retrieval.score_files import read_scores
from rerankers.stages.judged_rankings_answers import read_answers
from rerankers.stages.label_files import read_confusion, read_probabilities
from rerankers.tracks.background import read_world_population
from rerankers.tracks.candidates import read_queries
from rerankers.tracks.converters import read_group_rows
from rerankers.tracks.document_ids import read_document_ids
from rerankers.tracks.judged2020 import PairRules, read_judged
from rerankers.tracks.page_files import read_pages_2021, read_pages_2022
from rerankers.tracks.page_groups import read_page_groups
from rerankers.tracks.pages import Dimension
from rerankers.tracks.sequences import read_sequence
from rerankers.tracks.wiki_runs import read_wiki_run
from rerankers.tracks.wiki_target_file import read_wiki_targets
from rerankers.tracks.wiki_topics import read_relevant_pages, read_wiki_topics
from rerankers.values import Ids

DOCS = Ids.union(["d1", "d2", "d3"])
SAMPLE = (
    b'{"qid": 1, "query": "a b", "frequency": 0.2, "documents": [{"doc_id": "d1", "relevance": 1}]}\n'
    b'{"qid": 2, "query": "c", "frequency": 0.1, "documents": [{"doc_id": "d2", "relevance": 0},'
    b' {"doc_id": "d3", "relevance": null}]}\n'
)
TOPICS = (
    b'{"id": 1, "title": "a b", "keywords": ["x", "y"], "rel_docs": [11, 12]}\n'
    b'{"id": 2, "title": "c", "keywords": [], "rel_docs": [13]}\n'
)
PAGES_2021 = (
    b'{"page_id": 11, "geographic_locations": ["Asia"], "gender": ["male"], "quality_score_disc": "GA"}\n'
    b'{"page_id": 12, "geographic_locations": null, "gender": null, "quality_score_disc": "Stub"}\n'
)
PAGES_2022 = (
    b'{"page_id": 11, "qual_cat": "Stub", "page_subcont_regions": ["Polynesia"], "source_subcont_regions": {"UNK": 2},'
    b' "gender": ["female"], "occupations": ["poet"], "first_letter_category": "a-d", "creation_date_category": "2001",'
    b' "relative_pageviews_category": "High", "num_sitelinks_category": "5+ languages"}\n'
)
ANNOTATIONS = (
    b'{"id": "d1", "authors": [{"id": "1", "level": "Advanced", "h_index": 12, "type": "gov", "valid": true}]}\n'
)
RULES = PairRules(complete=True, binarize=False, as_zero=True, united=True, whole_groups=False)
DIMENSIONS = [Dimension("geography", ("Unknown", "Asia", "Europe"), True), Dimension("gender", ("female", "male"))]

READERS: dict[str, tuple[bytes, Callable[[Path], Any]]] = {
    "sample.json": (SAMPLE, read_sample),
    "candidates.json": (SAMPLE, read_queries),
    "judged.json": (SAMPLE, lambda path: read_judged(path, RULES)),
    "judged.tsv": (b"1\tA|B\td1\t1\n1\t\td2\t0\n2\tA\td3\t1\n", lambda path: read_judged(path, RULES)),
    "rows.csv": (b"d1,A,B\nd2,A\nd3,\n", read_group_rows),
    "ragged.csv": (b"d1,A,B\nd2,A\nd3,\n", read_ragged_labels),
    "sequence.csv": (b"0.0,1\n0.1,2\n1.0,1\n", read_sequence),
    "topics.jsonl": (TOPICS, read_wiki_topics),
    "relevant.jsonl": (TOPICS, read_relevant_pages),
    "relevant.qrels": (b"1 0 11 1\n1 0 12 0\n2 0 13 1\n", read_relevant_pages),
    "pages21.json": (PAGES_2021, read_pages_2021),
    "pages22.json": (PAGES_2022, read_pages_2022),
    "page_groups.csv": (b"docno,group\n11,a\n12,b\n", read_page_groups),
    "wiki.tsv": (b"id\tpage_id\n1\t11\n1\t12\n2\t13\n", lambda path: read_wiki_run(path, False)),
    "wiki22.tsv": (
        b"id\trep_number\tpage_id\n1\t1\t11\n1\t1\t12\n1\t2\t12\n",
        lambda path: read_wiki_run(path, True, True),
    ),
    "targets.csv": (b"qid,cell,value\n*,Asia|male,.5\n*,0,.5\n", lambda path: read_wiki_targets(path, DIMENSIONS)),
    "population.csv": (b"Name,Population,Area\nA,7,1\nB,5,2\n", read_world_population),
    "ids.txt": (b"d1\nd2\nd3\n", read_document_ids),
    "ids.jsonl": (b'{"docno":"d1"}\n{"docno":"d2"}\n', read_document_ids),
    "ids.csv": (b"page_id,title\n1,a\n2,b\n", read_document_ids),
    "annotations.json": (ANNOTATIONS, read_annotations),
    "authors.csv": (b"author_id,h_index,n_papers\na,3,2\nb,,1\n", read_author_table),
    "authors.jsonl": (b'{"author_id":"a","h_index":3}\n{"author_id":"b","h_index":null}\n', read_author_table),
    "papers.csv": (
        b'paper_sha,paper_title,paper_year,paper_venue,n_citations,n_key_citations\nd1,"a, b",1999,v,3,1\nd2,c,,,,\n',
        read_papers,
    ),
    "author_numbers.csv": (
        b"corpus_author_id,name,num_citations,num_papers,i10,h_index,h_class\n1,x,4,2,1,3,L\n2,y,9,3,1,11,H\n",
        read_author_numbers,
    ),
    "links.csv": (
        b"paper_sha,corpus_author_id,position\nd1,1,0\nd1,2,1\nd2,1,0\n",
        lambda path: read_paper_authors(path, DOCS),
    ),
    "labelled.csv": (b"1,who is he, really,m\n2,a nurse,n\n", read_labelled_queries),
    "sensitive.tsv": (b"1\twho is he\n2\ta nurse\n", read_fairness_queries),
    "notes.tsv": (b"QID\tQuery\tCategories\tDomains\tSubdomains\n1\ta\tx\ty\tz\n", read_query_notes),
    "forms.json": (b'{"0_F": {"1": ["a nurse", "a female nurse", "a male nurse"]}}\n', read_query_forms),
    "variants.txt": (b"1-1:a b\n1-2:b a\n2-1:c\n", lambda path: read_variants("x", path)),
    "variants.csv": (b"topic,variant,source\n1,a b,me\n1,b a,you\n2,c,me\n", lambda path: read_variants("x", path)),
    "variants.jsonl": (b'{"topic":"1","variants":["a b","b a"]}\n', lambda path: read_variants("x", path)),
    "names.csv": (b"name,topic\na,1\nb,2\n", read_topic_names),
    "confusion.csv": (
        b"true,label,value\nA,A,8\nA,B,2\nB,B,5\nB,A,1\n",
        lambda path: read_confusion(path, ["A", "B"]),
    ),
    "probabilities.csv": (
        b"docno,probability\nd1,.5\nd2,.25\nd3,1\n",
        lambda path: read_probabilities(path, ["d1", "d2", "d3"], np.ones(3, bool)),
    ),
    "answers.csv": (b"pair,judge,answer\np1,j,A\np2,j,equal\n", lambda path: read_answers([path], ["p1", "p2"])),
    "scores.csv": (b"qid,doc_id,est_relevance\n1,d1,.5\n1,d2,.25\n", lambda path: read_scores(str(path), None)),
    "features.tsv": (b"qid\tdocno\tbm25\tlen\n1\td1\t.5\t3\n1\td2\tnan\t4\n", read_user_table),
    "listed.run": (b"1 Q0 d1 1 .9 me\n1 Q0 d2 2 .8 me\n2 Q0 d1 1 .7 me\n", lambda path: read_listed(str(path))),
}


@pytest.mark.parametrize("name", READERS)
def test_whole_tables_are_read(name: str, tmp_path: Path) -> None:
    data, read = READERS[name]
    (tmp_path / name).write_bytes(data)
    assert read(tmp_path / name) is not None


@pytest.mark.parametrize("name", READERS)
@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_tables_are_read_or_told(tmp_path_factory: pytest.TempPathFactory, name: str, seed: int) -> None:
    data, read = READERS[name]
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(damaged(data, random.Random(seed)))
    assert told(read, path) is not None


@pytest.mark.parametrize("name", READERS)
def test_odd_tables_are_told(name: str, tmp_path: Path) -> None:
    deep = b"[" * 100_000
    for data in (b"", b"\n", b"\x00" * 100, b"\xff" * 100, deep, b'{"id": ' + deep, b"," * 1000, b'"' * 999):
        (tmp_path / name).write_bytes(data)
        assert told(READERS[name][1], tmp_path / name) is not None
    with pytest.raises(FairRerankersError):
        READERS[name][1](tmp_path / "none" / name)
