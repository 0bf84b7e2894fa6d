"""`python -m app` and the command `sinew`."""

import signal
import sys

# Until there is something to clean up, being asked to end needs no traceback, and loading takes half a second.
signal.signal(signal.SIGINT, signal.SIG_DFL)

from app.cli.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main())
