"""Shader sources, addressed by paths relative to `ROOT`; imports nothing of ours."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent
