"""The replay cache: what is kept, for whom, and what happens when writers meet, die or find no room."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerankers._base.errors import ConfigError, InputError, MissingError
from rerankers.llm import Message, Record, Reply, Request, export_replies, import_replies, open_replies
from rerankers.llm.identity import Identity
from rerankers.llm.records import read_record
from rerankers.llm.replay import replay_place

KINDS = ("c.sqlite", "c.jsonl")
ASKED = Request((Message("system", "be brief"), Message("user", "hé")), 1, {"b": 1, "a": [2]}, "print", "d1")
IDENTITY = Identity("openai", "m", {"temperature": 0.5, "seed": 3})


def record(number: int, text: str = "t") -> Record:
    return Record(f"key{number:05d}", text)


def kept(path: Path) -> list[Record]:
    replies = open_replies(path, read_only=True)
    try:
        return list(replies.every())
    finally:
        replies.close()


def add(path: Path, *records: Record) -> dict[str, Record]:
    replies = open_replies(path)
    try:
        return replies.add(records)
    finally:
        replies.close()


def test_the_key_is_of_all_that_bears_on_the_answer() -> None:
    key = IDENTITY.key(ASKED)
    assert len(key) == 64
    assert IDENTITY.key(replace(ASKED, about="d2", prompt="other")) == key
    assert IDENTITY.key(replace(ASKED, schema={"a": [2], "b": 1})) == key
    others = [
        replace(ASKED, messages=ASKED.messages[1:]),
        replace(ASKED, messages=(Message("user", "be brief"), ASKED.messages[1])),
        replace(ASKED, messages=(Message("system", "be brief "), ASKED.messages[1])),
        replace(ASKED, sample=0),
        replace(ASKED, schema=None),
        replace(ASKED, schema={"b": 1, "a": [3]}),
    ]
    identities = [
        Identity("local", "m", IDENTITY.parameters),
        Identity("openai", "n", IDENTITY.parameters),
        Identity("openai", "m", {"temperature": 0.5, "seed": 4}),
    ]
    keys = [IDENTITY.key(one) for one in others] + [one.key(ASKED) for one in identities]
    assert len({key, IDENTITY.key(ASKED, "likelihood"), *keys}) == len(keys) + 2


def test_the_key_never_changes() -> None:
    """Published replies are found by it: another value needs another KEY_VERSION."""
    assert IDENTITY.key(ASKED) == "d691a017f3f3346f5b89e00af29e5ee6027943e71296e8328715420214aed880"


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(()), "no messages"),
        (Request((Message("user", " "),), about="d7"), "about 'd7': found an empty message"),
        (Request((Message("robot", "x"),)), "the role 'robot'"),
        (Request((Message("user", "x"),), -1), "sample -1"),
    ],
)
def test_requests_that_nobody_can_be_asked(request_: Request, message: str) -> None:
    with pytest.raises(InputError, match=message):
        IDENTITY.key(request_)


@given(
    st.builds(
        Record,
        st.text(),
        st.text(),
        finish_reason=st.text(),
        prompt_tokens=st.none() | st.integers(0),
        error=st.sampled_from(["", "refusal"]),
    )
)
def test_records_come_back_from_their_lines(one: Record) -> None:
    assert "\n" not in one.line()
    back = read_record(one.line())
    # An empty word is left out; of the finish reason that means the usual one.
    assert back == (one if one.finish_reason else replace(one, finish_reason=back.finish_reason))


@pytest.mark.parametrize("name", KINDS)
def test_the_first_record_stays(tmp_path: Path, name: str) -> None:
    full = Record("k", 'a\n"é\u2028\x00', "length", "m-1", 3, 0, "refusal", "why", "print")
    assert add(tmp_path / name, full, record(1)) == {"k": full, "key00001": record(1)}
    assert add(tmp_path / name, Record("k", "other"), record(2))["k"] == full
    assert kept(tmp_path / name) == [full, record(1), record(2)]
    replies = open_replies(tmp_path / name)
    assert replies.find(["k", "none", "key00002"]) == {"k": full, "key00002": record(2)}
    replies.close()
    assert full.reply() == Reply('a\n"é\u2028\x00', "length", "m-1", 3, 0, 0, True, "refusal", "why")


@pytest.mark.parametrize("name", KINDS)
def test_many_keys(tmp_path: Path, name: str) -> None:
    records = [record(number) for number in range(1203)]
    assert len(add(tmp_path / name, *records)) == 1203
    assert kept(tmp_path / name) == records


@pytest.mark.parametrize("name", KINDS)
def test_writers_in_threads_share_a_file(tmp_path: Path, name: str) -> None:
    found: list[dict[str, Record]] = []

    def write(writer: int) -> None:
        replies = open_replies(tmp_path / name)
        found.extend(
            replies.add([record(number, f"by {writer}"), record(1000 * (writer + 1) + number)]) for number in range(20)
        )
        replies.close()

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records = {one.key: one for one in kept(tmp_path / name)}
    assert len(records) == 20 + 4 * 20
    # All of them were told the same: what was kept, not what they brought.
    assert all(records[key] == one for answer in found for key, one in answer.items())


WRITER = """
import sys
from pathlib import Path
from rerankers.llm import Record, open_replies
replies = open_replies(Path(sys.argv[1]))
first, count = int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
for number in range(first, first + count):
    replies.add([Record(f"key{number:05d}", "t" * 2000)])
    print(number, flush=True)
"""


@pytest.mark.parametrize("name", KINDS)
def test_writers_in_processes_share_a_file_and_may_be_killed(tmp_path: Path, name: str) -> None:
    def start(first: int, count: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WRITER, str(tmp_path / name), str(first), str(count)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    victim, steady = start(0, 90_000), start(90_000, 40)
    assert victim.stdout is not None
    lines = [victim.stdout.readline() for _ in range(12)]
    victim.send_signal(signal.SIGKILL)
    lines += victim.communicate()[0].split("\n")
    said = [int(line) for line in lines if line.strip().isdigit()]
    steady.communicate()
    assert steady.returncode == 0
    keys = {one.key for one in kept(tmp_path / name)}
    assert {f"key{number:05d}" for number in said} <= keys  # what was added is there, killed or not
    assert {f"key{number:05d}" for number in range(90_000, 90_040)} <= keys
    add(tmp_path / name, record(99_999))
    assert "key99999" in {one.key for one in kept(tmp_path / name)}


def test_a_last_line_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    add(path, record(1), record(2))
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    replies = open_replies(path, read_only=True)
    assert (list(replies.every()), replies.damaged) == ([record(1)], 1)
    assert path.read_bytes() == whole[:-7]  # whoever only reads changes nothing
    replies = open_replies(path)
    replies.add([record(3)])
    assert replies.damaged == 1
    replies.close()
    assert kept(path) == [record(1), record(3)]
    assert path.read_bytes().count(b"\n") == 2


def test_a_last_line_that_lacks_its_end_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(f"{record(1).line()}\n{record(2).line()}")
    assert kept(path) == [record(1), record(2)]
    replies = open_replies(path)
    other = open_replies(path)
    replies.add([record(3)])
    other.add([record(4)])
    assert (replies.damaged, other.damaged) == (0, 0)
    replies.close()
    other.close()
    assert kept(path) == [record(number) for number in (1, 2, 3, 4)]
    assert path.read_bytes().count(b"\n") == 4


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(record(1).line().encode() + b'\n{"key": "\xff", "text": ""}\n')
    with pytest.raises(InputError, match=r"c\.jsonl:2: found a byte that is not UTF-8"):
        open_replies(path)


def test_any_other_line_that_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    lines = [record(1).line(), "{", '{"key": 1, "text": ""}', '{"key": "k", "text": "", "api_key": ""}', "[1]", ""]
    lines.append('{"key": "k", "text": "", "prompt_tokens": "3"}')
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError) as caught:
        open_replies(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4, 5, 7]
    assert "api_key" in str(caught.value)


def test_lines_written_by_others_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    first = open_replies(path)
    add(path, record(1, "theirs"))
    with path.open("ab") as half:
        half.write(b'{"key": "half')
    assert first.add([record(1, "mine"), record(2)])["key00001"].text == "theirs"
    first.close()
    assert kept(path) == [record(1, "theirs"), record(2)]


@pytest.mark.parametrize("name", KINDS)
def test_files_that_are_no_cache(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"no cache at all, just some text\n" * 40)
    with pytest.raises(InputError, match=r"damaged or foreign|Expecting value"):
        open_replies(path)
    assert path.read_bytes().startswith(b"no cache")


def test_databases_of_others_and_of_other_versions(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE other (x)")
    base.close()
    with pytest.raises(InputError, match="holds no replies"):
        open_replies(path)
    add(tmp_path / "d.sqlite", record(1))
    base = sqlite3.connect(tmp_path / "d.sqlite")
    base.execute("PRAGMA user_version = 9")
    base.close()
    with pytest.raises(InputError, match="version 9"):
        open_replies(tmp_path / "d.sqlite")


def test_a_damaged_database(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    add(path, *(record(number, "t" * 500) for number in range(200)))
    content = bytearray(path.read_bytes())
    content[5000:60_000] = os.urandom(55_000)
    path.write_bytes(content)
    with pytest.raises(InputError, match="damaged"):
        kept(path)


@pytest.mark.parametrize("name", KINDS)
def test_places_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        open_replies(tmp_path / "file" / name)
    (tmp_path / name).mkdir()
    with pytest.raises(ConfigError, match="cannot be written"):
        open_replies(tmp_path / name)
    with pytest.raises(MissingError, match="found no file"):
        open_replies(tmp_path / "absent" / name, read_only=True)
    assert not (tmp_path / "absent").exists()


FULL = """
import resource, sys
from pathlib import Path
from rerankers._base.errors import ConfigError
from rerankers.llm import Record, open_replies
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
replies = open_replies(path)
replies.add([Record("first", "t")])
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    for number in range(100):
        replies.add([Record(f"key{number}", "t" * 5000)])
except ConfigError as error:
    print(number, error)
"""


@pytest.mark.parametrize("name", KINDS)
def test_a_place_without_room(tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-c", FULL, str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    number, _, message = done.stdout.partition(" ")
    assert "cannot be written" in message
    assert [one.key for one in kept(tmp_path / name)] == ["first", *(f"key{n}" for n in range(int(number)))]


@pytest.mark.parametrize("name", KINDS)
def test_reading_changes_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "published"
    add(folder / name, record(1))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    folder.chmod(0o555)
    try:
        assert kept(folder / name) == [record(1)]
    finally:
        folder.chmod(0o755)
    assert (folder / name).read_bytes() == before[name]


def test_export_and_import(tmp_path: Path) -> None:
    first, second = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    add(first, record(2), record(1))
    add(second, record(1), record(2))
    assert export_replies(first, tmp_path / "a.jsonl") == export_replies(second, tmp_path / "b.jsonl") == 2
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    add(third := tmp_path / "c.jsonl", record(2, "mine"), record(3))
    assert import_replies(tmp_path / "a.jsonl", third) == 1
    assert kept(third) == [record(2, "mine"), record(3), record(1)]
    assert import_replies(third, tmp_path / "d.sqlite") == 3


def test_compressed_lines_are_read(tmp_path: Path) -> None:
    import gzip

    add(tmp_path / "c.jsonl", record(1), record(2))
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress((tmp_path / "c.jsonl").read_bytes()))
    assert kept(path) == [record(1), record(2)]
    with pytest.raises(ConfigError, match="replay_only"):
        open_replies(path)


def test_the_name_says_which_kind(tmp_path: Path) -> None:
    assert replay_place(None, tmp_path) == tmp_path / "replies.sqlite"
    assert replay_place("~/x.jsonl", tmp_path) == Path("~/x.jsonl").expanduser()
    with pytest.raises(ConfigError, match=r"llm\.cache"):
        replay_place("replies.txt", tmp_path)


def test_a_writer_that_holds_the_file_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    add(path, record(1))
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, holder.execute, ["COMMIT"])
    timer.start()
    start = time.monotonic()
    add(path, record(2))
    assert time.monotonic() - start > 0.2
    timer.join()
    holder.close()
