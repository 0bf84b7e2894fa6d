// Draws images as the program does: the tables of sim/export/page/drawn.py, with the camera of the page.

const M = {  // 4 x 4 matrices by columns, in double precision
  product(a, b) {
    const m = new Array(16).fill(0);
    for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) for (let k = 0; k < 4; k++) m[4 * c + r] += a[4 * k + r] * b[4 * c + k];
    return m;
  },
  inverse(m) {  // by elimination with pivots
    const rows = [0, 1, 2, 3].map((r) => [0, 1, 2, 3].map((c) => m[4 * c + r]).concat([0, 1, 2, 3].map((c) => +(c === r))));
    for (let k = 0; k < 4; k++) {
      const best = [k, k + 1, k + 2, k + 3].filter((r) => r < 4).reduce((a, b) => Math.abs(rows[b][k]) > Math.abs(rows[a][k]) ? b : a);
      [rows[k], rows[best]] = [rows[best], rows[k]];
      rows[k] = rows[k].map((x) => x / rows[k][k]);
      rows.forEach((row, r) => { if (r !== k) rows[r] = row.map((x, c) => x - row[k] * rows[k][c]); });
    }
    return Array.from({length: 16}, (_, i) => rows[i % 4][4 + (i >> 2)]);
  },
  apply(m, [x, y, z, w = 1]) { return [0, 1, 2, 3].map((r) => m[r] * x + m[4 + r] * y + m[8 + r] * z + m[12 + r] * w); },
};
const V = {
  add: (a, b, s = 1) => a.map((x, i) => x + s * b[i]), dot: (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0),
  length: (a) => Math.hypot(...a),
};

// A camera that looks at a target [m] from a distance [m]; angles in degrees, as sim/scene/camera.py.
class Camera {
  constructor(values) { Object.assign(this, values); this.roll = values.roll || 0; }
  // Of half the angle of view; an image that is higher than wide shows as much to the sides as a square one.
  get tangent() { return Math.tan(this.field_of_view * Math.PI / 360) / Math.min(this.aspect || 1, 1); }
  axes() {
    const [y, p, r] = [this.yaw, this.pitch, this.roll].map((x) => x * Math.PI / 180);
    const [cy, sy, cp, sp] = [Math.cos(y), Math.sin(y), Math.cos(p), Math.sin(p)];
    const right = [cy, 0, -sy], up = [-sy * sp, cp, -cy * sp], back = [sy * cp, sp, cy * cp];
    const [c, s] = [Math.cos(r), Math.sin(r)];
    return [right.map((x, i) => c * x + s * up[i]), up.map((x, i) => c * x - s * right[i]), back];
  }
  eye() { return V.add(this.target, this.axes()[2], this.distance); }
}

// What shaders need of a camera: matrices and lengths as sim/render/frame.py computes them.
function seen(camera, width, height, subject, around) {
  const [right, up, back] = camera.axes(), eye = camera.eye(), centre = subject.slice(0, 3), radius = subject[3];
  const depth = V.dot(back, V.add(eye, centre, -1)), half = camera.tangent, aspect = width / height;
  let outerNear = Infinity, outerFar = -Infinity;
  if (around) {
    outerNear = outerFar = 0;
    back.forEach((b, i) => {
      const ends = [b * (eye[i] - around[i]), b * (eye[i] - around[3 + i])];
      outerNear += Math.min(...ends); outerFar += Math.max(...ends);
    });
  }
  let far = Math.max((V.length(V.add(centre, eye, -1)) + radius) * 4 + 10 * radius, outerFar), near;
  if (camera.orthographic) near = Math.min(-far, outerNear);
  else {
    const approach = half * Math.abs(up[1]) + Math.sign(back[1] * eye[1]) * Math.abs(back[1]);
    const ground = approach > 0 ? Math.abs(eye[1]) / approach : Infinity;
    const nearest = Math.min(depth - 1.2 * radius, 0.95 * ground, outerNear);
    near = Math.max(nearest, Math.min(camera.distance * 0.02, far * 1e-3), far * 1e-5);
  }
  const project = new Array(16).fill(0), size = camera.orthographic ? half * camera.distance : half;
  project[0] = 1 / (size * aspect); project[5] = 1 / size;
  if (camera.orthographic) { project[10] = 2 / (near - far); project[14] = (far + near) / (near - far); project[15] = 1; }
  else { project[10] = (far + near) / (near - far); project[11] = -1; project[14] = 2 * far * near / (near - far); }
  const view = [0, 1, 2].flatMap((i) => [right[i], up[i], back[i], 0]).concat([right, up, back].map((a) => -V.dot(a, eye)), 1);
  const clip = M.product(project, view);
  return {camera, right, up, back, eye, near, far, project, clip, world: M.inverse(clip), width, height, subject,
    middle: Math.max(depth, 0.5 * radius), orthographic: +camera.orthographic};
}

// Uniforms of draws into the image that depend on the camera.
const CAMERA = {
  u_clip_from_world: (s) => s.clip,
  u_clip_from_model: (s, old, before) => M.product(s.clip, M.product(before, old)),
  u_scale: (s, old) => old.length > 1 ? [s.project[0], s.project[5]] : [s.project[5]],
  u_viewport: (s) => [s.width, s.height],
  u_eye: (s) => s.orthographic ? [...s.back, 0] : [...s.eye, 1],
  u_middle: (s) => [s.middle],
  u_pixel: (s) => [2 / (s.project[5] * s.height)],
  u_depth_terms: (s) => [s.project[10], s.project[14]],
  u_height: (s, old) => old.length === 4 && old.some((x) => x) ? [1, 5, 9, 13].map((i) => s.world[i]) : old,
  u_terms: (s) => [s.project[10], s.project[14], s.orthographic],
  u_half: (s) => [1 / s.project[0], 1 / s.project[5]],
  u_fade: (s) => [Math.max(s.subject[3] * 9, s.camera.distance * 1.6)],
  u_cell: (s) => [10 ** Math.floor(Math.log10(Math.max(s.subject[3], s.camera.distance * 0.25, 1e-6) * 0.35))],
};

// Formats by name: storage, transfer and type as names of WebGL, bytes of a texel.
const FORMATS = {
  r8: ["R8", "RED", "UNSIGNED_BYTE", 1], rg8: ["RG8", "RG", "UNSIGNED_BYTE", 2], rgb8: ["RGB8", "RGB", "UNSIGNED_BYTE", 3],
  rgba8: ["RGBA8", "RGBA", "UNSIGNED_BYTE", 4], srgb8_alpha8: ["SRGB8_ALPHA8", "RGBA", "UNSIGNED_BYTE", 4],
  r16f: ["R16F", "RED", "HALF_FLOAT", 2], rg16f: ["RG16F", "RG", "HALF_FLOAT", 4], rgba16f: ["RGBA16F", "RGBA", "HALF_FLOAT", 8],
  r32f: ["R32F", "RED", "FLOAT", 4], rg32f: ["RG32F", "RG", "FLOAT", 8], rgba32f: ["RGBA32F", "RGBA", "FLOAT", 16],
  r32ui: ["R32UI", "RED_INTEGER", "UNSIGNED_INT", 4], rg32ui: ["RG32UI", "RG_INTEGER", "UNSIGNED_INT", 8],
  rgba32ui: ["RGBA32UI", "RGBA_INTEGER", "UNSIGNED_INT", 16], r16ui: ["R16UI", "RED_INTEGER", "UNSIGNED_SHORT", 2],
  depth24: ["DEPTH_COMPONENT24", "DEPTH_COMPONENT", "UNSIGNED_INT", 4],
};

class Renderer {
  // `live` gives the buffers of a `Runner` by number.
  constructor(gl, scene, array, live) {
    Object.assign(this, {gl, scene, array, live, tables: scene.draw, camera: new Camera(scene.camera), scale: 1});
    for (const name of ["EXT_color_buffer_float", "EXT_color_buffer_half_float", "EXT_float_blend", "OES_texture_float_linear"]) gl.getExtension(name);
    this.clamp = (gl.getExtension("EXT_depth_clamp") || {}).DEPTH_CLAMP_EXT;
    const tables = this.tables;
    this.programs = tables.programs.map((one) => this.program(one));
    this.buffers = tables.buffers.map((one) => this.buffer(one));
    this.arrays = new Map();
    this.layouts = tables.layouts.map((layout) => this.layout(layout));
    this.places = array(tables.images);  // list and row of each image
    this.textures = []; this.targets = [];
    this.images = tables.textures.map((one) => one.scale === undefined ? this.texture(one) : null);
    this.ready = Promise.all(this.images).then((names) => names.forEach((name, i) => { if (name) this.textures[i] = name; }));
    this.size = [0, 0];
  }

  program({name, vertex, fragment, captures, separate, uniforms}) {
    const gl = this.gl, program = gl.createProgram(), empty = "#version 300 es\nprecision highp float;\nout vec4 o;\nvoid main() { o = vec4(0.0); }\n";
    const shaders = [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment || empty]].map(([kind, text]) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text); gl.compileShader(shader); gl.attachShader(program, shader);
      return shader;
    });
    if (captures) gl.transformFeedbackVaryings(program, captures, separate ? gl.SEPARATE_ATTRIBS : gl.INTERLEAVED_ATTRIBS);
    gl.linkProgram(program);
    const finish = () => {
      if (gl.getProgramParameter(program, gl.LINK_STATUS) || gl.isContextLost()) return;
      const log = shaders.map((shader) => gl.getShaderInfoLog(shader)).concat(gl.getProgramInfoLog(program)).filter((text) => text);
      throw new Error(`${name}: ${String(log[0]).split("\n")[0]}`);
    };
    return {program, finish, captures, separate, uniforms, made: false};
  }

  // The places of uniforms, samplers and blocks, at the first use: programs compile side by side until then.
  made(one) {
    if (one.made) return one;
    const gl = this.gl, {program} = one;
    one.finish();
    let word = 3, unit = 0;
    one.values = one.uniforms.map(([name, type, count, size]) => {
      const at = gl.getUniformLocation(program, name), first = word, words = count * size, call = "uniform" + SETTERS[type];
      word += words;
      const kind = /^(float|vec|mat)/.test(type) ? "floats" : type.startsWith("u") ? "words" : "ints";
      return {name, first, words, kind, send: type.startsWith("mat") ? (v) => gl[call](at, false, v) : (v) => gl[call](at, v)};
    });
    one.units = {};
    gl.useProgram(program);
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const {name, type} = gl.getActiveUniform(program, i);
      if (![gl.SAMPLER_2D, gl.SAMPLER_2D_SHADOW, gl.INT_SAMPLER_2D, gl.UNSIGNED_INT_SAMPLER_2D].includes(type)) continue;
      one.units[name] = unit;
      gl.uniform1i(gl.getUniformLocation(program, name), unit++);
    }
    const blocks = gl.getProgramParameter(program, gl.ACTIVE_UNIFORM_BLOCKS);
    one.blocks = Array.from({length: blocks}, (_, i) => { gl.uniformBlockBinding(program, i, i); return gl.getActiveUniformBlockName(program, i); });
    one.made = true;
    return one;
  }

  buffer({live, size, data, track}) {
    if (live !== undefined) return this.live(live);
    const gl = this.gl, one = {name: gl.createBuffer(), version: 1, views: {}, length: size, size: Math.ceil(size / ROW_BYTES) * ROW_BYTES};
    if (track) one.track = new Track(track, this.array);
    one.start = track ? one.track.bytes(0) : data ? bytesOf(this.array(data)) : new Uint8Array(0);
    return one;
  }

  // Storage at the first use, for the purpose of that use: WebGL keeps buffers of indices apart.
  stored(one, target) {
    if (!one.start) return one.name;
    const gl = this.gl, all = new Uint8Array(one.size);
    all.set(one.start); one.start = null; one.target = target === gl.ELEMENT_ARRAY_BUFFER ? target : gl.COPY_WRITE_BUFFER;
    gl.bindVertexArray(null);
    gl.bindBuffer(one.target, one.name); gl.bufferData(one.target, all, one.track ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
    gl.bindBuffer(one.target, null);
    return one.name;
  }

  write(one, bytes) {
    const gl = this.gl;
    if (one.start) { one.start = bytes; return; }
    gl.bindVertexArray(null);
    gl.bindBuffer(one.target, one.name); gl.bufferSubData(one.target, 0, bytes); gl.bindBuffer(one.target, null);
    one.version++;
  }

  // Binds a buffer as a texture to the active unit.
  view(one, format) {
    const gl = this.gl, [storage, transfer, type, bytes] = FORMATS[format], rows = one.size / (WIDTH * bytes);
    this.stored(one, gl.COPY_WRITE_BUFFER);
    let view = one.views[format];
    if (!view) {
      view = one.views[format] = {name: gl.createTexture(), version: 0};
      gl.bindTexture(gl.TEXTURE_2D, view.name);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl[storage], WIDTH, rows);
      for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    } else gl.bindTexture(gl.TEXTURE_2D, view.name);
    if (view.version === one.version) return;
    gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, one.name);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, WIDTH, rows, gl[transfer], gl[type], 0);
    gl.bindBuffer(gl.PIXEL_UNPACK_BUFFER, null);
    view.version = one.version;
  }

  layout({base, moving, table}) {
    const words = this.array(base).slice(), at = this.array(moving), rows = this.array(table);
    return {words, floats: new Float32Array(words.buffer), ints: new Int32Array(words.buffer), load(row) {
      for (let k = 0; k < at.length; k++) words[at[k]] = rows[row * at.length + k];
    }};
  }

  async texture({format, size: [width, height], sample, image, texels, planes, channels}) {
    const gl = this.gl, name = gl.createTexture(), [storage, transfer, type] = FORMATS[format];
    const levels = sample[3] === gl.LINEAR || sample[3] === gl.NEAREST ? 1 : Math.floor(Math.log2(Math.max(width, height))) + 1;
    let source;
    if (image) {
      const options = {premultiplyAlpha: "none", colorSpaceConversion: "none"};
      source = await createImageBitmap(new Blob([this.array(image)], {type: "image/webp"}), options);
      [width, height] = [source.width, source.height];
    } else if (planes) {
      const parts = planes.map((plane) => this.array(plane)), kinds = [...new Set(channels)].sort();
      source = new Uint16Array(width * height * channels.length);
      channels.forEach((from, c) => parts[kinds.indexOf(from)].forEach((x, i) => { source[i * channels.length + c] = x; }));
    } else source = this.array(texels);
    gl.activeTexture(gl.TEXTURE0); gl.bindTexture(gl.TEXTURE_2D, name);
    gl.texStorage2D(gl.TEXTURE_2D, levels, gl[storage], width, height);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    if (image) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, gl[transfer], gl[type], source);
    else gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl[transfer], gl[type], source);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 4);
    if (levels > 1) gl.generateMipmap(gl.TEXTURE_2D);
    this.sampled(sample);
    return name;
  }

  sampled([s, t, magnify, minify], compare = false) {
    const gl = this.gl, set = (key, value) => gl.texParameteri(gl.TEXTURE_2D, key, value);
    set(gl.TEXTURE_WRAP_S, s); set(gl.TEXTURE_WRAP_T, t); set(gl.TEXTURE_MAG_FILTER, magnify); set(gl.TEXTURE_MIN_FILTER, minify);
    if (compare) { set(gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE); set(gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL); }
  }

  // Textures and framebuffers of the size of the image are made again when it changes.
  async resize(width, height) {
    if (this.size[0] === width && this.size[1] === height) return;
    const gl = this.gl, first = !this.size[0], renderbuffers = new Map();
    const sizeOf = (one) => one.scale ? [Math.ceil(width / one.scale), Math.ceil(height / one.scale)] : one.size;
    this.size = [width, height];
    this.tables.textures.forEach((one, i) => {
      if (one.scale === undefined || (!first && !one.scale)) return;
      if (!first) gl.deleteTexture(this.textures[i]);
      const name = this.textures[i] = gl.createTexture();
      gl.activeTexture(gl.TEXTURE0); gl.bindTexture(gl.TEXTURE_2D, name);
      gl.texStorage2D(gl.TEXTURE_2D, 1, gl[FORMATS[one.format][0]], ...sizeOf(one));
      this.sampled(one.sample, one.compare);
    });
    this.tables.targets.forEach((one, i) => {
      if (!one || (!first && !one.scale)) return;
      if (!first) { gl.deleteFramebuffer(this.targets[i].name); this.targets[i].owned.forEach((name) => gl.deleteRenderbuffer(name)); }
      const name = gl.createFramebuffer(), owned = [];
      gl.bindFramebuffer(gl.FRAMEBUFFER, name);
      const attach = (point, part) => {
        if (part.texture !== undefined) return gl.framebufferTexture2D(gl.FRAMEBUFFER, point, gl.TEXTURE_2D, this.textures[part.texture], 0);
        if (!renderbuffers.has(part.name)) {
          const buffer = gl.createRenderbuffer();
          renderbuffers.set(part.name, buffer); owned.push(buffer);
          gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
          const format = gl[FORMATS[part.format][0]], most = gl.getInternalformatParameter(gl.RENDERBUFFER, format, gl.SAMPLES);
          gl.renderbufferStorageMultisample(gl.RENDERBUFFER, Math.min(part.samples, most[0] || 0), format, ...sizeOf(one));
        }
        gl.framebufferRenderbuffer(gl.FRAMEBUFFER, point, gl.RENDERBUFFER, renderbuffers.get(part.name));
      };
      one.colours.forEach((part, k) => attach(gl.COLOR_ATTACHMENT0 + k, part));
      if (one.depth) attach(gl.DEPTH_ATTACHMENT, one.depth);
      gl.drawBuffers(one.colours.length ? one.colours.map((_, k) => gl.COLOR_ATTACHMENT0 + k) : [gl.NONE]);
      this.targets[i] = {name, owned, size: sizeOf(one), scale: one.scale, count: one.colours.length};
    });
  }

  // Draws an image into the canvas; `ready` must be fulfilled.  `from` is an image that reads the buffers of the
  // simulation as they take turns in the present step.
  draw(frame, from = frame) {
    const gl = this.gl, width = gl.drawingBufferWidth, height = gl.drawingBufferHeight, {lists} = this.tables;
    this.resize(width, height);
    const {commands, layout} = lists[this.places[2 * from]], isSame = lists[this.places[2 * frame]].layout === layout;
    const values = this.layouts[layout];
    values.load(this.places[2 * (isSame ? frame : from) + 1]);
    for (const one of this.buffers) if (one.track && one.frame !== frame) { one.frame = frame; this.write(one, one.track.bytes(frame)); }
    this.look(width, height);
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
    commands.forEach((command, i) => {
      if (command.clear) this.clear(command);
      else if (command.copy) this.copy(command, i === commands.length - 1);
      else this.run(command, values);
    });
    gl.bindVertexArray(null);
    this.set({depth: gl.LESS, write: true});
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // Puts the camera into the constants of the frame, which have the layout of shaders/viewport/frame.glsl.
  look(width, height) {
    const one = this.buffers[this.block()];
    const bytes = one.track ? one.track.bytes(one.frame) : this.constants ??= bytesOf(this.array(this.tables.buffers[this.block()].data)).slice();
    const frame = new Float32Array(bytes.slice().buffer), subject = [...frame.subarray(MEMBERS.subject, MEMBERS.subject + 4)];
    this.camera.aspect = width / height;
    const s = this.seen = seen(this.camera, width, height, subject, this.scene.around);
    this.before = M.inverse([...frame.subarray(0, 16)]);
    frame.set(s.clip, 0); frame.set(s.world, 16); frame.set([...s.eye, 1 - s.orthographic], MEMBERS.eye);
    frame.set([...s.back.map((x) => -x), s.far], MEMBERS.view_direction);
    frame.set([width, height, 1 / width, 1 / height], MEMBERS.viewport);
    if (this.scene.headlight) {
      const {distance} = this.camera, at = V.add(s.eye, V.add(s.right, s.up), 0.4 * distance);
      frame.set([...at, 1.1 * distance], MEMBERS.light_position);
    }
    this.write(one, new Uint8Array(frame.buffer));
  }

  block() {
    return this.frameBlock ??= this.tables.lists[0].commands.find((command) => command.b && "Frame" in command.b).b.Frame;
  }

  bind(number) {
    const gl = this.gl, target = this.targets[number];
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.name); gl.viewport(0, 0, ...target.size);
    return target;
  }

  clear({clear, o, k, v}) {
    const gl = this.gl, {count} = this.bind(o);
    gl.disable(gl.SCISSOR_TEST); gl.colorMask(true, true, true, true); gl.depthMask(true);
    if (clear === "depth") gl.clearBufferfv(gl.DEPTH, 0, v);
    else if (count) gl.clearBufferfv(gl.COLOR, k, v);
  }

  copy({copy, from, o, k}, isLast) {
    const gl = this.gl, source = this.targets[from], target = isLast ? null : this.targets[o], size = target ? target.size : this.size;
    gl.disable(gl.SCISSOR_TEST);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, source.name); gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, target && target.name);
    if (copy & gl.COLOR_BUFFER_BIT) gl.readBuffer(gl.COLOR_ATTACHMENT0 + k);
    gl.blitFramebuffer(0, 0, ...source.size, 0, 0, ...size, isLast ? gl.COLOR_BUFFER_BIT : copy, gl.NEAREST);
  }

  set({depth, write, clamp, blend, cull, offset, coverage, mask, scissor}) {
    const gl = this.gl, turn = (what, on) => on ? gl.enable(what) : gl.disable(what);
    turn(gl.DEPTH_TEST, depth); gl.depthMask(!!write); if (depth) gl.depthFunc(depth);
    if (this.clamp) turn(this.clamp, clamp);
    turn(gl.BLEND, blend); if (blend) gl.blendFuncSeparate(...blend);
    turn(gl.CULL_FACE, cull); if (cull) gl.cullFace(cull);
    turn(gl.POLYGON_OFFSET_FILL, offset); if (offset) gl.polygonOffset(...offset);
    turn(gl.SAMPLE_ALPHA_TO_COVERAGE, coverage);
    gl.colorMask(...(mask || [true, true, true, true]));
    turn(gl.SCISSOR_TEST, scissor);
    if (scissor) {
      const [left, right] = [scissor[0], scissor[0] + scissor[1]].map((part) => Math.round(part * this.size[0]));
      gl.scissor(left, 0, right - left, this.size[1]);
    }
  }

  run(command, values) {
    const gl = this.gl, one = this.made(this.programs[command.p]), [first, count, instances] = values.words.subarray(command.w, command.w + 3);
    if (!count) return;
    gl.useProgram(one.program);
    const target = command.t ? null : this.bind(command.o);
    if (target) this.set(this.tables.states[command.z]);
    const start = command.w + (command.t ? command.t.length : 0);
    for (const {name, first: at, words, kind, send} of one.values) {
      const value = values[kind].subarray(start + at, start + at + words), of = target && target.scale && CAMERA[name];
      send(of ? of(this.seen, [...value], this.before) : value);
    }
    for (const name in one.units) {
      const place = command.s[name];
      gl.activeTexture(gl.TEXTURE0 + one.units[name]);
      if (Array.isArray(place)) this.view(this.buffers[place[0]], place[1]);
      else gl.bindTexture(gl.TEXTURE_2D, place === undefined ? null : this.textures[place]);
    }
    one.blocks.forEach((name, i) => {
      const buffer = this.buffers[command.b[name]];
      gl.bindBufferRange(gl.UNIFORM_BUFFER, i, this.stored(buffer), 0, buffer.length);
    });
    for (const number of command.t || []) this.stored(this.buffers[number]);
    this.attributes(command, one);
    if (command.t) this.feed(command, first, count, values.words.subarray(command.w + 3, start + 3));
    else if (command.e) {
      if (instances) gl.drawElementsInstanced(command.m, count, command.e[1], first, instances);
      else gl.drawElements(command.m, count, command.e[1], first);
    } else if (instances) gl.drawArraysInstanced(command.m, first, count, instances);
    else gl.drawArrays(command.m, first, count);
  }

  feed(command, first, count, offsets) {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);  // it may hold a texture that the kernel reads
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, this.feedback ??= gl.createTransformFeedback());
    command.t.forEach((number, k) => {
      const buffer = this.buffers[number];
      gl.bindBufferRange(gl.TRANSFORM_FEEDBACK_BUFFER, k, buffer.name, offsets[k], buffer.size - offsets[k]);
      buffer.version++;
    });
    gl.enable(gl.RASTERIZER_DISCARD);
    gl.beginTransformFeedback(command.m); gl.drawArrays(command.m, first, count); gl.endTransformFeedback();
    gl.disable(gl.RASTERIZER_DISCARD);
    command.t.forEach((_, k) => gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, k, null));
    gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, null);
    gl.bindTransformFeedback(gl.TRANSFORM_FEEDBACK, null);
  }

  attributes(command, {program}) {
    const gl = this.gl;
    let vao = this.arrays.get(command);
    if (!vao) {
      vao = {name: gl.createVertexArray(), constants: []};
      this.arrays.set(command, vao);
      const names = Object.keys(command.a || {}).filter((name) => command.a[name].length === 7);
      for (const name of names) this.stored(this.buffers[command.a[name][0]], gl.ARRAY_BUFFER);
      if (command.e) this.stored(this.buffers[command.e[0]], gl.ELEMENT_ARRAY_BUFFER);
      gl.bindVertexArray(vao.name);
      for (const name in command.a) {
        const place = command.a[name], at = gl.getAttribLocation(program, name);
        if (at < 0) continue;
        if (place.length < 7) { vao.constants.push([at, ...place]); continue; }
        const [buffer, size, type, stride, offset, divisor, kind] = place;
        gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer].name); gl.enableVertexAttribArray(at);
        if (kind === 2) gl.vertexAttribIPointer(at, size, type, stride, offset);
        else gl.vertexAttribPointer(at, size, type, !!kind, stride, offset);
        gl.vertexAttribDivisor(at, divisor);
      }
      if (command.e) gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[command.e[0]].name);
      gl.bindBuffer(gl.ARRAY_BUFFER, null);
    }
    gl.bindVertexArray(vao.name);
    for (const constant of vao.constants) gl.vertexAttrib4f(...constant);
  }
}

// Places of members in the constants of a frame [floats].
const MEMBERS = {eye: 48, view_direction: 52, light_position: 56, viewport: 104, subject: 108};
