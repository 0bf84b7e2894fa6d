"""The columns of a CSV file of timings, for writing and reading."""

FORMAT = "sinew-timings"
VERSION = 1
FRAME, BEGIN, INTERVAL = "frame", "begin_s", "interval_ms"
STEP, TIME, CLIP, CLIP_FRAME = "step", "time_s", "clip", "animation_frame"
PASS, RUNS, PASS_BEGIN, GPU_BEGIN = "pass", "runs", "pass_begin_ms", "gpu_begin_ms"
GPU, CPU, SOURCE, LATENCY = "gpu_ms", "cpu_ms", "source", "latency_frames"

COLUMNS = (
    FRAME, BEGIN, INTERVAL, STEP, TIME, CLIP, CLIP_FRAME,
    PASS, RUNS, PASS_BEGIN, GPU_BEGIN, GPU, CPU, SOURCE, LATENCY,
)  # fmt: skip
NEEDED = (FRAME, BEGIN, PASS, GPU, CPU, SOURCE)
"""What no version can do without."""
