"""`python -m ngram_core` is the command `ngram-core`."""

import sys

from .cli import main

sys.exit(main())
