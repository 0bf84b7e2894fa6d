import math

import numpy as np

from sinew.sim.profile.history import QuantityHistory, TimingRecording
from sinew.sim.profile.sample import FrameSample, SceneMoment, Slice, TimerStatus, TimeSource, Vsync

# Path and typical time [ms] of everything that has no parts.
LEAVES = {
    "apply": 0.05, "simulate/pose/humanoid": 0.2, "simulate/skinning/humanoid": 0.5, "simulate/colliders": 0.1,
    "simulate/cloth/Cape": 3.0, "simulate/cloth/Flag": 1.2, "simulate/emitter/Sparks": 0.9,
    "simulate/emitter/Smoke": 0.4, "draw/pose/humanoid": 0.2, "draw/skinning/humanoid": 0.5, "draw/shadow": 0.7,
    "draw/background": 0.1, "draw/models/humanoid": 1.1, "draw/cloths/Cape": 0.4, "draw/cloths/Flag": 0.3,
    "draw/particles/Sparks": 0.6, "draw/particles/Smoke": 1.5, "draw/ground": 0.2, "draw/overlay": 0.1,
    "draw/resolve": 0.3,
}  # fmt: skip
STATUS = TimerStatus(True, TimeSource.TIMER, "card: its timer reported 99 % of a raster pass", "card", 3, 12, 8,
                     Vsync.ON, 34.0)  # fmt: skip


def sample(number, begin, times, *, interval=1 / 60, clip_frame=0.0, source=TimeSource.TIMER, cpu=0.4):
    """A frame whose leaves took these times [s]; groups hold the sums of their parts."""
    sums: dict[str, float] = {}
    for path, time in times.items():
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            key = "/".join(parts[:depth])
            sums[key] = sums.get(key, 0.0) + time
    slices = tuple(Slice(path, 0.0, cpu * time, 0.0, time) for path, time in sums.items())
    moment = SceneMoment(number * 2, number / 30, "walk", clip_frame)
    return FrameSample(number, begin, math.nan, moment, slices, source, 3, interval)


def walk(count, *, rate=60.0, scale=1.0, seed=1, start=1000.0, leaves=LEAVES):
    random = np.random.default_rng(seed)
    noise = random.lognormal(0.0, 0.08, (count, len(leaves)))
    samples = []
    for number in range(count):
        swing = 1.0 + 0.25 * math.sin(number / 20)
        spike = 4.0 if number % 240 == 200 else 1.0
        times = {
            path: 1e-3 * base * scale * noise[number, column] * swing * (spike if path.endswith("Cape") else 1.0)
            for column, (path, base) in enumerate(leaves.items())
        }
        interval = math.nan if number == 0 else 1.0 / rate
        samples.append(sample(number, start + number / rate, times, interval=interval, clip_frame=number % 30 + 0.25))
    return samples


def history_of(samples):
    history = QuantityHistory()
    for one in samples:
        history.append(one)
    return history


def recording(name, count=300, **options):
    return TimingRecording(name, tuple(walk(count, **options)), STATUS)
