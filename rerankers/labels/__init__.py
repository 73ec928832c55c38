"""Labels of texts: which groups a text speaks about, by word lists, language models, files or votes."""
