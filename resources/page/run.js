// Repeats the steps of a simulation by transform feedback; sim/run/live.py writes what it takes.
//
// A buffer is what the program has.  A texture is a view of one, rows of 1024 texels, copied on the GPU when the buffer
// has changed since.

const WIDTH = 1024, ROW_BYTES = 16 * WIDTH;

const SETTERS = {
  float: "1fv", vec2: "2fv", vec3: "3fv", vec4: "4fv", int: "1iv", ivec2: "2iv", ivec3: "3iv", ivec4: "4iv",
  bool: "1iv", bvec2: "2iv", bvec3: "3iv", bvec4: "4iv", uint: "1uiv", uvec2: "2uiv", uvec3: "3uiv", uvec4: "4uiv",
  mat2: "Matrix2fv", mat3: "Matrix3fv", mat4: "Matrix4fv",
};

const pixelFormats = (gl) => ({
  rgba32f: [gl.RGBA32F, gl.RGBA, gl.FLOAT, 16], rg32f: [gl.RG32F, gl.RG, gl.FLOAT, 8],
  r32f: [gl.R32F, gl.RED, gl.FLOAT, 4], rgba32ui: [gl.RGBA32UI, gl.RGBA_INTEGER, gl.UNSIGNED_INT, 16],
  rg32ui: [gl.RG32UI, gl.RG_INTEGER, gl.UNSIGNED_INT, 8], r32ui: [gl.R32UI, gl.RED_INTEGER, gl.UNSIGNED_INT, 4],
  r16ui: [gl.R16UI, gl.RED_INTEGER, gl.UNSIGNED_SHORT, 2], r8: [gl.R8, gl.RED, gl.UNSIGNED_BYTE, 1],
  rg8: [gl.RG8, gl.RG, gl.UNSIGNED_BYTE, 2], rgba8: [gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, 4],
});

class Buffers {
  constructor(gl, infos, array) {
    this.gl = gl;
    this.formats = pixelFormats(gl);
    this.all = infos.map(({size, data}) => ({
      size: Math.max(Math.ceil(size / ROW_BYTES), 1) * ROW_BYTES, name: gl.createBuffer(), version: 1, views: {},
      data: data && bytesOf(array(data)), patches: new Map(),
    }));
  }

  reset() {
    const gl = this.gl;
    for (const one of this.all) {
      const start = new Uint8Array(one.size);
      if (one.data) start.set(one.data);
      patch(start, 0, one.patches);
      gl.bindBuffer(gl.COPY_WRITE_BUFFER, one.name);
      gl.bufferData(gl.COPY_WRITE_BUFFER, start, gl.DYNAMIC_COPY);
      one.version++;
    }
    gl.bindBuffer(gl.COPY_WRITE_BUFFER, null);
  }

  write(i, offset, bytes) {
    const gl = this.gl, one = this.all[i];
    if (one.patches.size) patch(bytes = bytes.slice(), offset, one.patches);
    gl.bindBuffer(gl.COPY_WRITE_BUFFER, one.name);
    gl.bufferSubData(gl.COPY_WRITE_BUFFER, offset, bytes);
    gl.bindBuffer(gl.COPY_WRITE_BUFFER, null);
    one.version++;
  }

  copy([from, to, source, target, size]) {
    const gl = this.gl;
    gl.bindBuffer(gl.COPY_READ_BUFFER, this.all[from].name);
    gl.bindBuffer(gl.COPY_WRITE_BUFFER, this.all[to].name);
    gl.copyBufferSubData(gl.COPY_READ_BUFFER, gl.COPY_WRITE_BUFFER, source, target, size);
    gl.bindBuffer(gl.COPY_READ_BUFFER, null);
    gl.bindBuffer(gl.COPY_WRITE_BUFFER, null);
    this.all[to].version++;
  }

  // The texture is bound to the active unit when this returns.
  texture(i, format) {
    const gl = this.gl, one = this.all[i], [storage, transfer, type, bytes] = this.formats[format];
    const rows = one.size / (WIDTH * bytes);
    let view = one.views[format];
    if (view) {
      gl.bindTexture(gl.TEXTURE_2D, view.name);
    } else {
      view = one.views[format] = {name: gl.createTexture(), version: 0};
      gl.bindTexture(gl.TEXTURE_2D, view.name);
      gl.texStorage2D(gl.TEXTURE_2D, 1, storage, WIDTH, rows);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    if (view.version !== one.version) {
      gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false);
      gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
      gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
      gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, one.name);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, WIDTH, rows, transfer, type, 0);
      gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, null);
      view.version = one.version;
    }
    return view.name;
  }

  read(i, floats) {
    const gl = this.gl, out = new Float32Array(floats);
    gl.bindBuffer(gl.COPY_READ_BUFFER, this.all[i].name);
    gl.getBufferSubData(gl.COPY_READ_BUFFER, 0, out);
    gl.bindBuffer(gl.COPY_READ_BUFFER, null);
    return out;
  }
}

const bytesOf = (values) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

// Writes the words that sliders have changed, numbers by word of the buffer, into bytes from `offset` on.
function patch(bytes, offset, patches) {
  if (!patches.size) return;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (const [word, value] of patches) {
    const at = 4 * word - offset;
    if (at >= 0 && at + 4 <= bytes.byteLength) view.setFloat32(at, value, true);
  }
}

class Runner {
  // `live` is the simulation of a page, `array` gives its arrays; throws an Error if a program does not compile.
  constructor(gl, live, array) {
    this.gl = gl;
    this.live = live;
    this.step = 0;
    this.buffers = new Buffers(gl, live.buffers, array);
    this.feedback = gl.createTransformFeedback();
    this.empty = gl.createVertexArray();
    const words = array(live.values.words), ends = array(live.values.ends);
    this.values = Array.from(ends, (end, i) => words.slice(i ? ends[i - 1] : 0, end));
    this.programs = live.programs.map((info) => this.compiled(info));
    this.passes = live.passes.map((one) => ({...one, own: {}, v: (one.v ?? []).map(([u, table]) => [u, array(table)])}));
    this.inputs = live.inputs.map((one) => {
      const base = array(one.base).slice(), steps = new Map(Array.from(array(one.steps), (step, row) => [step, row]));
      return {buffer: one.buffer, offset: one.offset, base, moving: array(one.moving), table: array(one.table), steps};
    });
    this.sliders = (live.sliders ?? []).map((one) => this.slider(one, array));
    this.hands = {};
    for (const [name, targets] of Object.entries(live.hands ?? {})) {
      this.hands[name] = targets.map((one) => ({...one, words: array(one.words)}));
    }
    this.reset();
  }

  // Number of steps until it starts again.
  get length() { return this.live.period ? Infinity : this.live.steps.length; }

  reset() {
    this.buffers.reset();
    this.step = 0;
    this.execute(this.live.first, 0);
  }

  advance() {
    this.execute(this.live.steps[this.index(this.step)], this.step + 1);
    this.step++;
  }

  // Executes a list of passes; inputs are those of row `row`.
  execute(list, row) {
    const gl = this.gl;
    this.current = null;
    this.row = row;
    gl.enable(gl.RASTERIZER_DISCARD);
    for (const at of this.live.lists[list]) {
      const one = this.passes[at];
      if (one.c) this.buffers.copy(one.c);
      else if (one.i !== undefined) this.feed(this.inputs[one.i]);
      else this.draw(one);
    }
    gl.disable(gl.RASTERIZER_DISCARD);
    gl.bindVertexArray(null);
    gl.activeTexture(gl.TEXTURE0);
  }

  // Texture of the positions of a node, `texels` of 4 floats a record; rows of 1024 texels.
  texture(name) { return this.buffers.texture(this.shown(name), "rgba32f"); }

  // Positions of a node, three floats a record.
  positions(name) {
    const {count, texels, first} = this.live.outputs[name], out = new Float32Array(3 * count);
    const all = this.buffers.read(this.shown(name), 4 * texels * count);
    for (let k = 0; k < count; k++) for (let j = 0; j < 3; j++) out[3 * k + j] = all[4 * (texels * k + first) + j];
    return out;
  }

  // Sets a slider, by its number, to a value of its setting.
  set(number, value) {
    const slider = this.sliders[number];
    slider.now = Math.min(Math.max(value, slider.lo), slider.hi);
    for (const target of slider.targets) this.applyTarget(target);
  }

  // Drags record `record` of a node to a point [m]; `radius` is how far others come along [m], where they do.
  grab(name, record, point, radius = 0) {
    for (const {passes, u, words, particle, hand, reach} of this.hands[name] ?? []) {
      const value = words.slice(), floats = new Float32Array(value.buffer);
      if (particle >= 0) value[particle] = record;
      if (hand >= 0) floats.set(point, hand);
      if (reach >= 0) floats[reach] = radius;
      for (const at of passes) this.passes[at].own[u] = value;
    }
  }

  release() {
    for (const targets of Object.values(this.hands)) {
      for (const {passes, u} of targets) for (const at of passes) delete this.passes[at].own[u];
    }
  }

  index(step) {
    const {start, period} = this.live;
    return step < start || !period ? step : start + (step - start) % period;
  }

  shown(name) {
    const {buffers} = this.live.outputs[name];
    return buffers[this.step ? 1 + this.index(this.step - 1) : 0];
  }

  compiled({name, text, captures, separate, uniforms}) {
    const gl = this.gl, program = gl.createProgram();
    const parts = [[gl.VERTEX_SHADER, text], [gl.FRAGMENT_SHADER, "#version 300 es\nvoid main() {}\n"]];
    for (const [kind, source] of parts) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
        throw new Error(`${name}: ${gl.getShaderInfoLog(shader)}`);
      }
      gl.attachShader(program, shader);
    }
    gl.transformFeedbackVaryings(program, captures, separate ? gl.SEPARATE_ATTRIBS : gl.INTERLEAVED_ATTRIBS);
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`${name}: ${gl.getProgramInfoLog(program)}`);
    }
    const setters = uniforms.map(([uniform, type]) => {
      const at = gl.getUniformLocation(program, uniform), call = "uniform" + SETTERS[type];
      const View = /^(u|uvec\d)int$|^uvec/.test(type) ? Uint32Array : /^(i|b)/.test(type) ? Int32Array : Float32Array;
      const typed = (words) => new View(words.buffer, words.byteOffset, words.length);
      return type.startsWith("mat") ? (v) => gl[call](at, false, typed(v)) : (v) => gl[call](at, typed(v));
    });
    return {program, setters, sent: [], units: {}, sizes: {}, unitCount: 0, blocks: {}};
  }

  feed({buffer, offset, base, moving, table, steps}) {
    const row = steps.get(this.row), n = moving.length;
    for (let k = 0; k < n; k++) base[moving[k]] = table[row * n + k];
    this.buffers.write(buffer, offset, bytesOf(base));
  }

  draw(one) {
    const gl = this.gl, program = this.programs[one.p], buffers = this.buffers;
    if (this.current !== program) {
      gl.useProgram(program.program);
      this.current = program;
    }
    one.u.forEach((at, u) => { if (at >= 0) this.send(program, u, one.own[u] ?? this.values[at]); });
    for (const [u, table] of one.v) {
      const size = table.length / (this.live.steps.length + 1);
      this.send(program, u, one.own[u] ?? table.subarray(this.row * size, (this.row + 1) * size));
    }
    for (const [u, first, slope] of one.l ?? []) {
      const value = Float32Array.from(first, (a, k) => a + slope[k] * this.row);
      this.send(program, u, one.own[u] ?? new Uint32Array(value.buffer));
    }
    for (const [key, i, format] of one.s ?? []) {
      if (program.units[key] === undefined) {
        program.units[key] = program.unitCount++;
        gl.uniform1i(gl.getUniformLocation(program.program, key), program.units[key]);
        program.sizes[key] = gl.getUniformLocation(program.program, `${key}_size`);
      }
      if (program.sizes[key]) gl.uniform1i(program.sizes[key], this.live.buffers[i].size / buffers.formats[format][3]);
      gl.activeTexture(gl.TEXTURE0 + program.units[key]);
      buffers.texture(i, format);
    }
    for (const [key, i] of one.b ?? []) {
      if (program.blocks[key] === undefined) {
        program.blocks[key] = gl.getUniformBlockIndex(program.program, key);
        gl.uniformBlockBinding(program.program, program.blocks[key], program.blocks[key]);
      }
      gl.bindBufferBase(gl.UNIFORM_BUFFER, program.blocks[key], buffers.all[i].name);
    }
    gl.bindVertexArray(this.vertices(one, program));
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, this.feedback);
    one.t.forEach(([i, offset], k) => {
      const target = buffers.all[i];
      gl.bindBufferRange(gl.TRANSFORM_FEEDBACK_BUFFER, k, target.name, offset, target.size - offset);
      target.version++;
    });
    gl.beginTransformFeedback(one.m);
    gl.drawArrays(one.m, one.f, one.n);
    gl.endTransformFeedback();
    // WebGL refuses a buffer that is bound as a target of transform feedback and anywhere else.
    one.t.forEach((_, k) => gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, k, null));
    gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, null);
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
    for (const key in program.blocks) gl.bindBufferBase(gl.UNIFORM_BUFFER, program.blocks[key], null);
  }

  send(program, u, words) {
    if (program.sent[u] !== words) program.setters[u](program.sent[u] = words);
  }

  vertices(one, program) {
    if (!one.a) return this.empty;
    if (!one.vao) {
      const gl = this.gl;
      one.vao = gl.createVertexArray();
      gl.bindVertexArray(one.vao);
      for (const [key, i, size, type, stride, offset, isInteger, isNormalised] of one.a) {
        const at = gl.getAttribLocation(program.program, key);
        if (at < 0) continue;
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.all[i].name);
        gl.enableVertexAttribArray(at);
        if (isInteger) gl.vertexAttribIPointer(at, size, type, stride, offset);
        else gl.vertexAttribPointer(at, size, type, !!isNormalised, stride, offset);
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, null);
    }
    return one.vao;
  }

  // --- sliders: numbers between the rows of a table, one number a part of a uniform or word of a buffer -------------

  slider(one, array) {
    const targets = one.targets.map((target) => ({...target, table: array(target.table)}));
    return {...one, targets, now: one.start};
  }

  // Part `k` of a target at the slider's value.
  partOf({lo, hi, log, now, rows}, {table, parts}, k) {
    const share = log ? Math.log(now / lo) / Math.log(hi / lo) : (now - lo) / (hi - lo);
    const x = Math.min(Math.max(share * (rows - 1), 0), rows - 1), i = Math.min(Math.floor(x), rows - 2), f = x - i;
    const a = table[i * parts.length + k], b = table[(i + 1) * parts.length + k];
    return log && a * b > 0 ? a * Math.pow(b / a, f) : a + (b - a) * f;
  }

  // Sets what a target changes to its start and what all sliders that were moved add to it, or multiply it by.
  applyTarget({passes, u, buffer}) {
    for (const at of passes ?? []) {
      const one = this.passes[at], changed = this.changed((target) => target.u === u && target.passes?.includes(at));
      if (!changed.size) {
        delete one.own[u];
        continue;
      }
      const value = this.values[one.u[u]].slice(), floats = new Float32Array(value.buffer);
      for (const [part, {now}] of changed) floats[part] = now;
      one.own[u] = value;
    }
    if (passes) return;
    const {patches, size} = this.buffers.all[buffer], words = this.buffers.read(buffer, size / 4);
    for (const [word, {now, start}] of this.changed((target) => target.buffer === buffer, true)) {
      if (now === start) patches.delete(word);
      else patches.set(word, now);
      words[word] = now;
    }
    this.buffers.write(buffer, 0, bytesOf(words));
  }

  // Parts of fitting targets with their start and their present number; of sliders at their start too with `all`.
  changed(fits, all = false) {
    const found = new Map();
    for (const slider of this.sliders) {
      if (slider.now === slider.start && !all) continue;
      for (const target of slider.targets.filter(fits)) {
        target.parts.forEach((part, k) => {
          const start = target.starts[k], before = found.get(part)?.now ?? start;
          const value = slider.now === slider.start ? start : this.partOf(slider, target, k);
          found.set(part, {start, now: target.products[k] ? before * value / start : before + value - start});
        });
      }
    }
    return found;
  }
}
