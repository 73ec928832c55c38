"""The log of a job: a file beside its results that says what was done, when, and what went wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from logging.handlers import MemoryHandler
from pathlib import Path

from rerankers._base.errors import ConfigError, FairRerankersError, InputError, MissingError
from rerankers._base.files import unwritable

FILE = "log.txt"
FORMAT = "%(asctime)s %(levelname)s %(message)s"
BUFFERED = 10_000

logger = logging.getLogger("rerankers")
logger.addHandler(logging.NullHandler())
_running: ContextVar[MemoryHandler | None] = ContextVar("running", default=None)
"""Of the job in this thread: several may run at once, each with its own file."""


@contextmanager
def job_log(command: str, folder: Path | None = None) -> Iterator[None]:
    """Collect what is logged until the job knows its folder (`log_to`); what went wrong is logged last.

    Where input, config or machine are wrong, the message on the terminal says all there is: a folder that had no log
    before has none then, so that a job which could not be done leaves nothing.

    Parameters
    ----------
    command
        what repeats the job: the first line.
    folder
        where the log of a job goes that stops with an unexpected error before it has a folder; None: nowhere.
    """
    handler = MemoryHandler(BUFFERED, flushLevel=logging.CRITICAL + 1, flushOnClose=False)
    handler.addFilter(lambda _: _running.get() is handler)
    _enable()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)  # and left so: another thread may be at a job as well
    token = _running.set(handler)
    logger.info("%s", command)
    needless = False
    try:
        yield
    except (InputError, ConfigError, MissingError) as error:
        logger.error("%s", error)
        needless = True
        raise
    except FairRerankersError as error:
        logger.error("%s", error)
        raise
    except BaseException as error:
        logger.error("stopped: %s", type(error).__name__, exc_info=True)
        if folder is not None and isinstance(error, Exception):
            with suppress(FairRerankersError):  # of a folder that cannot be written: the error itself is told
                log_to(folder)
        raise
    else:
        logger.info("done")
    finally:
        _running.reset(token)
        logger.removeHandler(handler)
        target = handler.target
        handler.flush()
        handler.close()
        if isinstance(target, _LogFile):
            target.close()
            if needless and target.fresh:
                Path(target.baseFilename).unlink(missing_ok=True)


class _LogFile(logging.FileHandler):
    """The file; ``fresh`` where nothing stood there before."""

    def __init__(self, path: Path) -> None:
        self.fresh = not path.exists()
        super().__init__(path, encoding="utf-8", errors="backslashreplace")
        self.setFormatter(logging.Formatter(FORMAT))


def log_to(folder: Path) -> None:
    """Write what the running job logs, and has logged, to ``log.txt`` in its folder, behind what stands there.

    Nothing happens where no job is logged (`job_log`), or where it has a file already.

    Raises
    ------
    ConfigError
        when the file cannot be written.
    """
    handler = _running.get()
    if handler is None or handler.target is not None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        target = _LogFile(folder / FILE)
    except OSError as error:
        raise unwritable(folder / FILE, error) from error
    handler.setTarget(target)
    handler.flush()
    handler.capacity = 1  # from here on every line is written at once


def _enable() -> None:
    """Let our loggers log: a logging config that somebody loaded meanwhile (Hydra's, say) may have disabled them."""
    for name, known in logging.root.manager.loggerDict.items():
        if isinstance(known, logging.Logger) and name.partition(".")[0] == logger.name:
            known.disabled = False
