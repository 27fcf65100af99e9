"""One repository per aggregate, written once for every engine."""
