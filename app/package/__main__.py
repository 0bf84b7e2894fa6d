"""`python -m sinew` and the command `sinew`."""

import signal
import sys

# Until there is something to clean up, Ctrl-C needs no traceback, and loading takes half a second.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from sinew.app.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
