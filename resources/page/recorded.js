// The contents of a buffer over the frames, as sim/export/page/recorded.py writes them.

class Track {
  constructor({base, moving, parts}, array) {
    this.base = bytesOf(array(base)).slice();
    this.moving = array(moving);
    this.parts = parts.map((part) => {
      const run = Array.isArray(part.columns) ? part.columns : null;
      const columns = run ? Uint32Array.from({length: run[2]}, (_, k) => run[0] + run[1] * k) : array(part.columns);
      return {...part, columns, values: array(part.exact || part.rounded)};
    });
  }

  // The contents in a frame; the same array until the next call.
  bytes(frame) {
    const words = new Uint32Array(this.base.buffer, 0, this.base.length >> 2), floats = new Float32Array(words.buffer, 0, words.length);
    for (const {columns, values, exact, low, size} of this.parts) {
      const n = columns.length, first = frame * n;
      for (let k = 0; k < n; k++) {
        const value = values[first + k], at = this.moving[columns[k]];
        if (exact) words[at] = value;
        else floats[at] = value === 0xffff ? NaN : low + value * size;
      }
    }
    return this.base;
  }
}
