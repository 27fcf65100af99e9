"""Pure stages from candidates to a ranked answer, the embedders, and the in-process vector index."""
