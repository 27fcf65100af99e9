"""Use cases: what each operation means, over the store's repositories and the retrieval stages."""
