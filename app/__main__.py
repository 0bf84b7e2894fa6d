"""`python -m app` and the command `sinew`."""

import signal
import sys

# Loading takes half a second; an interrupt during it ends the process without a traceback.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from app.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
