"""Entry point of `python -m app` in a checkout, the same as `python -m sinew`."""

import runpy

runpy.run_module("sinew", run_name="__main__", alter_sys=True)
