"""Language models that answer requests: any OpenAI-compatible server, a local one, a script; all replayable."""

from rerankers.llm.base import Message, Provider, Reply, Request, Session
from rerankers.llm.lines import COUNTS, Lines, parse_lines
from rerankers.llm.local_options import Transformers
from rerankers.llm.none import NoModel
from rerankers.llm.openai_compatible import OpenAICompatible
from rerankers.llm.parse import Parsed, parse_label
from rerankers.llm.prompt_file import Example
from rerankers.llm.prompts import Prompt
from rerankers.llm.records import Record
from rerankers.llm.replay import export_replies, import_replies, open_replies
from rerankers.llm.scripted import Answering, Scripted

__all__ = [
    "COUNTS",
    "Answering",
    "Example",
    "Lines",
    "Message",
    "NoModel",
    "OpenAICompatible",
    "Parsed",
    "Prompt",
    "Provider",
    "Record",
    "Reply",
    "Request",
    "Scripted",
    "Session",
    "Transformers",
    "export_replies",
    "import_replies",
    "open_replies",
    "parse_label",
    "parse_lines",
]
