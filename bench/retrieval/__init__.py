"""How well Evoca finds what it holds: see `python -m bench.retrieval --help`."""
