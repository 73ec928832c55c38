"""A model on this machine, by transformers. Only weights are read, never code that comes with them."""

from __future__ import annotations

import importlib.util
import inspect
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rerankers._base.errors import InputError, MissingError
from rerankers.llm.base import Message, Reply, Request, sendable
from rerankers.llm.local_text import drawn_token, plain_text, token_stream, without_system

if TYPE_CHECKING:
    from rerankers.llm.local_options import Transformers


class LocalModel:
    """A `rerankers.llm.local_session.Scorer`; loaded when it is first asked."""

    workers = 1

    def __init__(self, options: Transformers, name: str) -> None:
        self.batch = options.batch
        self._options = options
        self._name = name
        self._loaded: tuple[Any, Any, tuple[int, ...]] | None = None

    def answer(self, requests: Sequence[Request], keys: Sequence[str]) -> list[Reply]:
        """Return completions."""
        _, tokenizer, ends = self._load()
        prompts = [self._tokens(request) for request in requests]
        fits = [place for place, prompt in enumerate(prompts) if self._fits(len(prompt) + self._options.max_tokens)]
        replies = [self._too_long(prompt) for prompt in prompts]
        if fits:
            new = self._generate([prompts[place] for place in fits], [keys[place] for place in fits])
            for place, tokens in zip(fits, new, strict=True):
                end = next((number for number, token in enumerate(tokens) if token in ends), None)
                text = tokenizer.decode(tokens[:end], skip_special_tokens=True)
                count = len(tokens) if end is None else end + 1
                reason = "length" if end is None else "stop"
                replies[place] = Reply(text, reason, self._name, len(prompts[place]), count)
        return replies

    def likelihoods(self, requests: Sequence[Request], answers: Sequence[str]) -> list[list[float] | None]:
        """Return natural log-likelihoods of the answers, a list of A for each request; None where it is too long."""
        import torch

        model, tokenizer, _ = self._load()
        endings = [tokenizer(answer, add_special_tokens=False)["input_ids"] for answer in answers]
        longest = max(map(len, endings))
        if not all(endings):
            raise InputError.one("answers", repr(list(answers)), "texts that the model has tokens for")
        prompts = [self._tokens(request) for request in requests]
        rows: list[list[float] | None] = [[] if self._fits(len(one) + longest) else None for one in prompts]
        work = [(row, prompt, end) for row, prompt in zip(rows, prompts, strict=True) for end in endings]
        fitting = [(row, prompt, end) for row, prompt, end in work if row is not None]
        for start in range(0, len(fitting), self.batch):
            part = fitting[start : start + self.batch]
            inputs = self._padded([prompt + end for _, prompt, end in part])
            with torch.inference_mode():
                logits = model(**inputs, **_extras(model, inputs["attention_mask"], longest + 1)).logits
            for number, (row, _, end) in enumerate(part):
                # Each token is told by what stands before it; in float64, so that sums are as good as the logits.
                at = logits[number, -len(end) - 1 : -1].double().log_softmax(-1)
                row.append(float(at.gather(-1, torch.tensor(end, device=at.device)[:, None]).sum()))
                if not math.isfinite(row[-1]):
                    raise not_finite(self._name)
        return rows

    def stop(self) -> None:
        """Do nothing: it never waits."""

    def close(self) -> None:
        """Let go of the model."""
        self._loaded = None

    def _too_long(self, prompt: Sequence[int]) -> Reply:
        detail = f"{len(prompt)} tokens and {self._options.max_tokens} to come are more than the model reads"
        return Reply("", "", self._name, error="too_long", detail=detail)

    def _fits(self, size: int) -> bool:
        limit = getattr(self._load()[0].config, "max_position_embeddings", None)
        return not isinstance(limit, int) or size <= limit

    def _tokens(self, request: Request) -> list[int]:
        _, tokenizer, _ = self._load()
        given = [Message(message.role, sendable(message.content)) for message in request.messages]
        chat = bool(tokenizer.chat_template) if self._options.template == "auto" else self._options.template == "chat"
        if not chat:
            return list(tokenizer(plain_text(given))["input_ids"])
        failure = ""
        for messages in (given, without_system(given)):
            turns = [{"role": message.role, "content": message.content} for message in messages]
            try:
                text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
            except Exception as error:  # a template is a program of the model's own, and fails as it likes
                failure = str(error)
                continue
            return list(tokenizer(text, add_special_tokens=False)["input_ids"])
        mend = "Try llm.template=plain."
        raise InputError.one(f"chat template of {self._name}", failure, "one that takes these turns", mend=mend)

    def _padded(self, rows: Sequence[Sequence[int]]) -> dict[str, Any]:
        import torch

        model, tokenizer, ends = self._load()
        size = max(map(len, rows))
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else next(iter(ends), 0)
        ids = [[pad] * (size - len(row)) + list(row) for row in rows]
        mask = [[0] * (size - len(row)) + [1] * len(row) for row in rows]
        return {
            "input_ids": torch.tensor(ids, device=model.device),
            "attention_mask": torch.tensor(mask, device=model.device),
        }

    def _generate(self, prompts: Sequence[Sequence[int]], keys: Sequence[str]) -> list[list[int]]:
        import torch
        from transformers import LogitsProcessorList

        model, _, _ = self._load()
        inputs = self._padded(prompts)
        size = inputs["input_ids"].shape[1]
        options = self._options
        streams = [token_stream(options.seed, key) for key in keys]

        def draw(ids: Any, scores: Any) -> Any:
            """Leave each row its drawn token alone, so that the likeliest token is the drawn one."""
            if bool(scores.isnan().any()):
                raise not_finite(self._name)
            if options.temperature == 0:
                return scores
            rows = scores.double().cpu().numpy()
            step = ids.shape[1] - size
            drawn = [
                drawn_token(row, options.temperature, options.top_p, stream, step)
                for row, stream in zip(rows, streams, strict=True)
            ]
            at = torch.tensor(drawn, device=scores.device)[:, None]
            return torch.full_like(scores, float("-inf")).scatter(-1, at, 0.0)

        choice = LogitsProcessorList([draw])
        with torch.inference_mode():
            out = model.generate(**inputs, max_new_tokens=options.max_tokens, logits_processor=choice)
        return [list(row) for row in out[:, size:].tolist()]

    def _load(self) -> tuple[Any, Any, tuple[int, ...]]:
        """Return (the model, its tokenizer, the tokens that end a completion)."""
        if self._loaded is None:
            self._loaded = _loaded(self._options)
        return self._loaded


def not_finite(name: str) -> InputError:
    """Return the error for a model whose numbers overflow."""
    return InputError.one(f"model {name}", "numbers that are not finite", "finite ones", mend="Try llm.dtype=float32.")


def _extras(model: Any, mask: Any, last: int) -> dict[str, Any]:
    """Return what a model is told besides, if it can be: positions behind the padding, how many logits are needed."""
    known = inspect.signature(model.forward).parameters
    wanted = {
        "position_ids": (mask.cumsum(-1) - 1).clamp(min=0),
        "logits_to_keep": last,
        "num_logits_to_keep": last,  # its name before transformers 4.49
    }
    return {name: value for name, value in wanted.items() if name in known}


def _loaded(options: Transformers) -> tuple[Any, Any, tuple[int, ...]]:
    try:
        import transformers
    except ImportError:
        mend = "Type: pip install 'fair-rerankers[local-llm]'"
        raise MissingError(f"llm=local needs the transformers package. {mend}") from None
    import torch

    if options.device != "cpu" and not torch.cuda.is_available():
        raise MissingError(f"llm.device={options.device}: torch finds no such device. Type: llm.device=cpu")
    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()
    model, tokenizer = _read(options, transformers)
    ends = model.generation_config.eos_token_id
    if ends is None:
        ends = tokenizer.eos_token_id
    end_tokens = tuple(ends) if isinstance(ends, list | tuple) else () if ends is None else (int(ends),)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else next(iter(end_tokens), 0)
    # The folder's own way of sampling gives place to the options, all of it.
    model.generation_config = transformers.GenerationConfig(
        do_sample=False, num_beams=1, eos_token_id=list(end_tokens) or None, pad_token_id=pad
    )
    return model.to(options.device).eval(), tokenizer, end_tokens


def _read(options: Transformers, transformers: Any) -> tuple[Any, Any]:
    where: dict[str, Any] = {"local_files_only": options.offline, "trust_remote_code": False}
    if options.revision is not None:
        where["revision"] = options.revision
    if options.gguf_file is not None:
        if importlib.util.find_spec("gguf") is None:
            raise MissingError("llm.gguf_file needs the gguf package. Type: pip install gguf")
        where["gguf_file"] = options.gguf_file
    else:
        where["use_safetensors"] = True
    named = "dtype" if int(transformers.__version__.split(".")[0]) >= 5 else "torch_dtype"
    path = str(Path(options.model).expanduser()) if Path(options.model).expanduser().is_dir() else options.model
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(path, **where)
        model = transformers.AutoModelForCausalLM.from_pretrained(path, **where, **{named: options.dtype})
    except (OSError, ValueError, ImportError, RuntimeError, KeyError) as error:
        said = " ".join(str(error).split())[:400]
        raise MissingError(
            f"{options.model}: cannot be loaded ({said}). Expected a folder or name of a causal language model with "
            "config.json, a tokenizer and safetensors weights, and no code of its own"
        ) from None
    return model, tokenizer
