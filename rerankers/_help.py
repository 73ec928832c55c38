"""What ``--help`` of a command prints. Hydra's own reads every config file first, which takes longer than the rest."""

from __future__ import annotations

from pathlib import Path

import yaml
from omegaconf import DictConfig, OmegaConf

from rerankers._overrides import RENAMED

HEADER = {
    "run": "fair-rerank run: retrieve, rerank, draw rankings, measure their expected exposure, report.",
    "choose": "fair-rerank choose: questions about what is fair, and the config of run that the answers stand for.",
    "train": "fair-rerank train: learn a scorer of candidates from judged queries.",
    "label": "fair-rerank label: whom texts speak of, by word lists, a language model, given labels or votes.",
    "agreement": "fair-rerank agreement: how far labels of texts agree with true ones, and labellers with each other.",
    "labels": "fair-rerank labels: what unknown, wrong or sampled group labels leave of a result.",
    "presence": "fair-rerank presence: which groups retrieved texts speak about, and what balancing them costs.",
    "evaluate": "fair-rerank evaluate: judge run files against qrels (and groups).",
    "submit": "fair-rerank submit: write the submission to a TREC Fair Ranking track from a run or a policy.",
    "validate": "fair-rerank validate: check a submission to a TREC Fair Ranking track.",
    "compare": "fair-rerank compare: the results of several jobs in one table, and among published runs.",
    "explain": "fair-rerank explain: a query in several jobs side by side, and why documents have their exposure.",
    "power": "fair-rerank power: what comparisons over stored results can find, and what it would take.",
    "headroom": "fair-rerank headroom: what the first stage leaves possible, whatever reranks it.",
    "recommend": "fair-rerank recommend: other queries, relevant to the original and better balanced over groups.",
    "variants": "fair-rerank variants: several queries for each topic: what they share, find and show of the groups.",
    "meta": "fair-rerank meta: whether measures agree on the order of systems, whatever is assumed.",
    "kit": "fair-rerank kit: what measures of gender presence are worth: properties, and agreement with people.",
    "reproduce": "fair-rerank reproduce: published numbers beside ours, from the data that is there.",
}

_TRACKS = "2019, 2020-rerank, 2020-retrieval, 2021-task1, 2021-task2, 2022-task1, 2022-task2"
_BOARDS = "trec2019-level, trec2019-h-index, trec2020-rerank, trec2020-retrieval, trec2021-task1 … trec2022-task2"

FOOTER = {
    "run": """\
Change a line:     fair-rerank run method.temperature=0.5 samples=50 output=outputs/mine
Choose an option:  fair-rerank run method=uniform groups=none
Sweep:             fair-rerank run --multirun method=plackett_luce,kl_tilt 'seed=range(5)' output=outputs/sweep
On several cores:  the same with hydra/launcher=joblib; stopped and typed again it runs what is left
Your own configs:  fair-rerank run --config-dir mine method=mine""",
    "label": """\
Example:           fair-rerank label labeller=lexical_majority input=docs.jsonl output=labels.jsonl
Own words:         fair-rerank label labeller.lexicon=words.csv input=docs.jsonl output=labels.jsonl
By a model:        fair-rerank label labeller=llm llm=openai llm.model=NAME input=docs.jsonl output=labels.jsonl
Columns of a CSV:  fair-rerank label input=docs.csv output=labels.jsonl id_field=d_id text_field=document""",
    "agreement": """\
Example:           fair-rerank agreement truth=truth.csv labels=[words:a.jsonl,model:b.jsonl]""",
    "labels": """\
Example:           fair-rerank labels run=[a.run,b.run] qrels=qrels.txt groups=groups.csv study=[bounds,flips]""",
    "presence": """\
Example:           fair-rerank presence collection=grep_biasir collection.path=DIR output=outputs/presence
Other labels:      fair-rerank presence groups.labeller=lexical_neutrality
From a file:       fair-rerank presence groups=labels groups.path=labels.jsonl""",
    "choose": """\
The questions:     fair-rerank choose
Example:           fair-rerank choose definition=merit unit=groups labels=given output=mine name=fair
Then:              fair-rerank run --config-dir mine experiment=fair""",
    "train": """\
Example:           fair-rerank train model=lightgbm objective=lambdarank collection.split=train output=model
Then:              fair-rerank run method.model=model collection.split=eval
A fair one:        fair-rerank train objective=exact_exposure objective.fairness_weight=0.5 groups.attribute=economy
Sweep:             fair-rerank train --multirun objective.fairness_weight=0,0.5,1,2 output=front""",
    "evaluate": """\
Example:           fair-rerank evaluate run=my.run.gz qrels=qrels.txt groups=groups.csv browsing.patience=0.9
Several runs:      fair-rerank evaluate run=[a.run,b.run] qrels=qrels.txt
A track's rules:   fair-rerank evaluate preset=trec2020_official run=mine.jsonl.gz qrels=queries.json \\
                       groups=merged-annotations.json""",
    "submit": f"""\
Tracks:            {_TRACKS}
Example:           fair-rerank submit track=2020-rerank run=outputs/mine queries=queries.json sequence=sequence.csv \\
                       output=mine.jsonl.gz qrels=queries-with-relevance.json""",
    "validate": f"""\
Tracks:            {_TRACKS}
Example:           fair-rerank validate track=2020-rerank run=mine.jsonl.gz queries=queries.json sequence=sequence.csv
Topics and pages:  fair-rerank validate track=2022-task2 run=mine.tsv.gz queries=topics.jsonl corpus=pages.jsonl.gz""",
    "compare": f"""\
Leaderboards:      {_BOARDS}
Example:           fair-rerank compare outputs/a outputs/b output=outputs/comparison
Published runs:    fair-rerank compare outputs/judged leaderboard=trec2020-rerank""",
    "explain": """\
Example:           fair-rerank explain outputs/a outputs/b query=q1 output=outputs/q1
Of documents:      fair-rerank explain outputs/a query=q1 docno=[d7,d12]
Run files:         fair-rerank explain a.run b.run query=q1 qrels=qrels.txt groups=groups.csv""",
    "power": """\
Example:           fair-rerank power outputs/a outputs/b output=outputs/power
Seeds of a run:    fair-rerank power outputs/seeds differences=[0.02] precision=0.005""",
    "headroom": """\
Example:           fair-rerank headroom experiment=cacm collection.path=DIR depths=[10,100,1000] output=outputs/headroom
Of runs:           fair-rerank headroom results=[outputs/a,outputs/b] depth_for=0.9 depth_for_loss=0.1""",
    "recommend": """\
Of a query:        fair-rerank recommend collection=jsonl collection.path=DIR query="solar power" groups=region
Of topics:         fair-rerank recommend topics=[1,2,3] generator=[rm3,embedding] targets=population budget=30
By a model:        fair-rerank recommend generator=[neighbours_llm,rm3] llm=openai llm.base_url=URL llm.model=NAME
Your candidates:   fair-rerank recommend generator=list generator.list.path=candidates.tsv groups=groups.csv""",
    "variants": """\
Texts only:        fair-rerank variants sets=[human:uqv.txt,model:gpt.csv] exclude_topics=[UQV100.075]
With documents:    fair-rerank variants collection=jsonl collection.path=DIR sets=[human:topics:query+title,model:FILE]
Of runs:           fair-rerank variants sets=[human:a.txt,model:b.jsonl] runs=[human:a.run,model:b.run] qrels=qrels.txt
By a model:        fair-rerank variants collection=jsonl collection.path=DIR sets=[human:topics:query] \\
                       generate=[cold:0,warm:1] generation.completions=3 llm=openai llm.base_url=URL llm.model=NAME
Fair reranking:    fair-rerank variants experiment=cacm collection.path=DIR sets=[human:FILE] method=kl_tilt""",
    "kit": """\
Properties:        fair-rerank kit study=axioms measures=[CWEx@10,NFaiRR@10,TExFAIR@10] output=outputs/axioms
Pairs to judge:    fair-rerank kit study=template labels=labels.jsonl texts=docs.jsonl judges=3 output=pairs.csv
Their answers:     fair-rerank kit study=judged input=pairs.csv output=outputs/judged""",
    "meta": """\
Example:           fair-rerank meta outputs/a outputs/b outputs/c attribute=economy output=outputs/meta
Run files:         fair-rerank meta a.run b.run qrels=qrels.txt groups=groups.csv measures=[group_EEL,NDKL@20,DP]""",
    "reproduce": """\
Example:           fair-rerank reproduce data=DIR output=outputs/reproduce""",
}


HIDDEN = {
    "run": frozenset({"preset"}),  # run files only are judged by a track's rules
    # what follows is there for experiments of run only
    "headroom": frozenset({"method", "target", "fit", "measures", "ledger"}),
    "variants": frozenset({"execution", "fit", "ledger", "measures"}),
    "recommend": frozenset({"browsing", "execution", "fit", "ledger", "measures", "method", "target"}),
}
"""Groups that a command's config names although choosing from them has no effect."""


def help_text(command: str, folders: list[Path], config: DictConfig) -> str:
    """Return the help of a command.

    Parameters
    ----------
    command
        ``run``, ``evaluate``, ``submit``, ``validate``, ``compare`` or ``reproduce``.
    folders
        where config groups come from.
    config
        composed with the overrides that stand beside ``--help``.
    """
    found: dict[str, set[str]] = {}
    for folder in folders:
        for path in folder.glob("*/*.yaml"):
            found.setdefault(path.parent.name, set()).add(path.stem)
    files = RENAMED.get(command, {})  # words that name a file here
    asked = _asked_for(folders[0] / f"{command}.yaml") - HIDDEN.get(command, frozenset())
    used = [group for group in sorted(found) if group in asked and group not in files]
    options = "\n".join(f"  {group}: {', '.join(sorted(found[group]))}" for group in used)
    choice = f"Options to choose from (word=option):\n{options}\n\n" if used else ""
    values = OmegaConf.to_yaml(config).rstrip()
    return (
        f"{HEADER[command]}\n\n{choice}"
        f"Values (override any: foo.bar=value; the comments are in {folders[0]}):\n\n{values}\n\n"
        f"{FOOTER[command]}\nHydra's own flags: --hydra-help"
    )


def _asked_for(root: Path) -> frozenset[str]:
    """Return the groups that a command's config chooses from, be it nothing (null) by default."""
    defaults = yaml.safe_load(root.read_text(encoding="utf-8")).get("defaults", [])
    return frozenset(key for entry in defaults if isinstance(entry, dict) for key in entry)
