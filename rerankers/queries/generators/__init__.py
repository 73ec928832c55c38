"""Where candidate queries come from, one file a generator: each is a config ``conf/generator/<name>.yaml``."""
