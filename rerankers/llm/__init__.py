"""Language models that answer requests: any OpenAI-compatible server, a local one, a script; all replayable."""
