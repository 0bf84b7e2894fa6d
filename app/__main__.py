"""`python -m app` and the command `sinew`."""

import sys

from app.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
