// The data of a page: `unpack` reads the text that sim/export/page/pack.py writes.

const TYPES = {
  f4: Float32Array, u4: Uint32Array, i4: Int32Array, u2: Uint16Array, i2: Int16Array, u1: Uint8Array, i1: Int8Array,
};
const UNSIGNED = {1: Uint8Array, 2: Uint16Array, 4: Uint32Array};

// Returns the scene and `array(reference)`, which gives a typed array; an array without coding is a view of the data.
async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const all = await new Response(stream).arrayBuffer();
  const length = new DataView(all).getUint32(0, true);
  const scene = JSON.parse(new TextDecoder().decode(new Uint8Array(all, 4, length)));
  return {scene, array: (reference) => arrayOf(all, 4 + length, reference)};
}

function arrayOf(all, start, {at, n, t, c, w}) {
  const Type = TYPES[t], size = Type.BYTES_PER_ELEMENT;
  if (!c) return new Type(all, start + at, n);
  const bytes = new Uint8Array(all, start + at, n * size), words = new UNSIGNED[size](n), rows = n / w;
  const order = c === "zigzag2" ? 2 : 1;
  for (let column = 0; column < w; column++) {
    for (let row = 0, sum = 0, change = 0; row < rows; row++) {
      let word = 0;
      for (let plane = 0; plane < size; plane++) word |= bytes[plane * n + column * rows + row] << (8 * plane);
      if (c !== "rows") word = (word >>> 1) ^ -(word & 1);
      change = order === 2 ? (change + word) | 0 : word;
      sum = (sum + change) | 0;
      words[row * w + column] = sum;
    }
  }
  return new Type(words.buffer);
}
