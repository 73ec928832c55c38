"""Whatever is in a file, a reader returns data or one clear error: no other exception, no hang, bounded memory."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from damage import damaged, told
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base import unpack
from rerankers._base.errors import FairRerankersError, InputError
from rerankers._base.files import open_bytes, read_lines
from rerankers.collections import Jsonl
from rerankers.collections.group_files import read_groups
from rerankers.collections.query_files import read_queries
from rerankers.collections.svmlight import read_svmlight
from rerankers.labels.file_labels import read_labels
from rerankers.labels.lexicon import load_lexicon
from rerankers.llm.yaml_text import read_yaml
from rerankers.methods.targets.file import read_shares
from rerankers.policies import PlackettLuce
from rerankers.queries.vectors_file import read_vectors
from rerankers.retrieval import RunFile
from rerankers.runs import read_run, write_policy, write_run
from rerankers.stages.query_clusters import read_clusters
from rerankers.stages.sequence import read_asked
from rerankers.values import Ids, Ragged, Topics
from rerankers.values.qrels import read_qrels

TOPICS = Topics.of(["q1", "q2"], ["a", "b"])
RUN = b"".join(
    b"q%d %d d%d %d %.3f me\n" % (query, sample, (query * 7 + rank) % 11, rank + 1, 1 / (rank + 1))
    for query in range(3)
    for sample in range(2)
    for rank in range(3)
)
DOCS = (
    b'{"docno":"d1","title":"a b","text":"some words","year":1999,"authors":["x","y"]}\n'
    b'{"docno":"d2","text":"others"}\n{"docno":"d3","text":"third"}\n'
)
QUERIES, QRELS = b"q1\tsome words\nq2\tothers here\n", b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"


def folder_of(docs: Path) -> Any:
    folder = docs.parent / "world"
    folder.mkdir(exist_ok=True)
    (folder / "queries.tsv").write_bytes(QUERIES)
    (folder / "qrels.txt").write_bytes(QRELS)
    (folder / "docs.jsonl").write_bytes(docs.read_bytes())
    return Jsonl(path=str(folder)).load()


class World:
    """What a first stage looks at."""

    docs, topics = Ids.union(["d1", "d2"]), TOPICS


def retrieved(path: Path) -> Any:
    return RunFile(str(path)).retrieve(World(), path.parent / "cache")  # type: ignore[arg-type]


def packed(form: str) -> bytes:
    """Return a run, or a policy, in a form that is no text."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x.{form}"
        if form == "policy":
            over = Ragged(np.array([0, 1]), np.array([0, 3, 5]), np.array([0, 1, 2, 1, 3]))
            policy = PlackettLuce(over, np.arange(5.0), TOPICS.stream)
            write_policy(path, policy, ["a", "b"], Ids.union(list("pqrs")), 5, 7)
        else:
            (Path(folder) / "a.run").write_bytes(RUN)
            run = read_run(Path(folder) / "a.run")
            write_run(path, run.rankings, run.qids, run.docs)
        return path.read_bytes()


READERS: dict[str, tuple[bytes, Callable[[Path], Any]]] = {
    "a.run": (RUN, read_run),
    "b.run": (b"q1 Q0 d1 1 .9 me\nq1 Q0 d2 2 .8 me\nq2 Q0 d9 1 .7 me\nq3 Q0 d1 1 .2 me\n", retrieved),
    "a.run.gz": (gzip.compress(RUN), read_run),
    "a.run.zst": (pa.compress(RUN, codec="zstd", asbytes=True), read_run),
    "a.parquet": (packed("parquet"), read_run),
    "a.arrow": (packed("arrow"), read_run),
    "policy.parquet": (packed("policy"), read_run),
    "a.jsonl": (
        b'{"qid": 1, "q_num": "0.0", "ranking": ["a","b"]}\n{"qid": 2, "q_num": "0.1", "ranking": []}\n',
        read_run,
    ),
    "a.csv": (b"qid,docno,sample,rank,score\nq1,d1,0,1,.5\nq1,d2,0,2,.4\nq2,d1,0,1,3\n", read_run),
    "qrels.txt": (QRELS, read_qrels),
    "queries.tsv": (QUERIES, read_queries),
    "queries.jsonl": (b'{"qid":"q1","query":"some words"}\n{"qid":"q2","query":"others"}\n', read_queries),
    "docs.jsonl": (DOCS, folder_of),
    "groups.csv": (b"docno,group,weight\nd1,a,1\nd2,b,.5\nd2,a,.5\nd3,b,1\n", read_groups),
    "labels.csv": (b"id,label\nd1,a\nd2,b\n", read_labels),
    "train.svm": (b"2 qid:1 1:.5 2:3 # d1\n0 qid:1 1:.1 3:1 # d2\n1 qid:2 1:.2 2:1e-3 # d3\n", read_svmlight),
    "shares.csv": (b"qid,cell,value\nq1,a,.4\nq1,b,.6\nq2,a,.5\nq2,b,.5\n", lambda path: read_shares(str(path))),
    "words.csv": (b"word,group\nshe,female\nhe,male\nhers,female\n", lambda path: load_lexicon(str(path))),
    "prompt.yaml": (
        b"messages:\n- role: user\n  content: 'label {text}'\n",
        lambda path: read_yaml(path, ["messages"]),
    ),
    "sequence.csv": (b"0.0,q1\n0.1,q2\n0.2,q1\n", lambda path: read_asked(path, TOPICS)),
    "clusters.csv": (b"qid,cluster\nq1,a\nq2,b\n", lambda path: read_clusters(path, ["q1", "q2"])),
    "vectors.txt": (b"cat .1 .2 .3\ndog .2 .1 0\n", lambda path: read_vectors(str(path))),
}


@pytest.mark.parametrize("name", READERS)
def test_whole_files_are_read(name: str, tmp_path: Path) -> None:
    data, read = READERS[name]
    (tmp_path / name).write_bytes(data)
    assert read(tmp_path / name) is not None


@pytest.mark.parametrize("name", READERS)
@given(seed=st.integers(0, 2**32 - 1))
def test_damaged_files_are_read_or_told(tmp_path_factory: pytest.TempPathFactory, name: str, seed: int) -> None:
    data, read = READERS[name]
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(damaged(data, random.Random(seed)))
    assert told(read, path) is not None


@pytest.mark.parametrize("name", READERS)
@given(data=st.binary(max_size=80))
def test_any_bytes_are_read_or_told(tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / name
    path.write_bytes(data)
    assert told(READERS[name][1], path) is not None


@pytest.mark.parametrize("name", [name for name in READERS if not name.startswith("docs")])
def test_pipes_and_folders_are_told(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(FairRerankersError):
        READERS[name][1](tmp_path / name)
    os.unlink(tmp_path / name)
    (tmp_path / name).mkdir()
    with pytest.raises(FairRerankersError):
        READERS[name][1](tmp_path / name)


@pytest.mark.parametrize("form", ["gz", "zst"])
def test_archive_bombs_are_told(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "ALWAYS_FINE", 1 << 20)
    path = tmp_path / f"a.run.{form}"
    for data in (b"\n" * (8 << 20), b"q1 0 d1 1 1 me\n" * (1 << 18)):
        path.write_bytes(gzip.compress(data) if form == "gz" else pa.compress(data, codec="zstd", asbytes=True))
        with pytest.raises(InputError, match="unpacks to more than"):
            read_run(path)
        with pytest.raises(InputError, match="unpacks to more than"):
            list(read_lines(path))


def test_archives_of_texts_are_no_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "ALWAYS_FINE", 1000)
    rng = np.random.default_rng(0)
    text = b"".join(
        b"q%d Q0 doc%d %d .5 me\n" % (n // 100, d, n % 100) for n, d in enumerate(rng.integers(0, 900, 20_000))
    )
    (tmp_path / "a.run.gz").write_bytes(gzip.compress(text, 9))
    with open_bytes(tmp_path / "a.run.gz") as stream:
        assert stream.read() == text


def test_repeated_documents_are_counted_not_listed(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(b"q1 0 d1 1 1 me\n" * 5000)
    with pytest.raises(InputError, match="more problems") as caught:
        read_run(tmp_path / "a.run")
    assert len(caught.value.problems) == 1001


@pytest.mark.slow
def test_a_long_line_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    with path.open("wb") as stream:
        stream.truncate(1 << 30)  # one line of zeros, which takes no room on the disk
    code = (
        "import sys; from pathlib import Path; from rerankers.runs import read_run\n"
        "from rerankers._base.errors import InputError\n"
        "try: read_run(Path(sys.argv[1]))\n"
        "except InputError as error: print(error)\n"
        # not that of getrusage, which begins with the parent's
        "peak = [line for line in open('/proc/self/status') if line.startswith('VmHWM')][0]\n"
        "print(int(peak.split()[1]) // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True, timeout=120)
    said, megabytes = done.stdout.strip().split("\n")
    assert "a line over 64 MiB" in said
    assert int(megabytes) < 600


def test_too_little_memory_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from rerankers import cli

    def full(words: list[str]) -> int:
        raise MemoryError("Unable to allocate 160 GiB")

    monkeypatch.setitem(cli.OTHERS, "doctor", full)
    assert cli.main(["doctor"]) == 3
    said = capsys.readouterr().err
    assert "not enough memory (Unable to allocate 160 GiB)" in said
    assert "execution.block" in said
