"""The tests, in several processes at once: threads within numpy would only compete with them."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
