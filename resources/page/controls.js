// Playback, camera, settings and keys of a page.

const STEPS_AT_ONCE = 2;     // most steps of a simulation for one image; a slow machine shows it slowly
const LIMIT = 1e6;           // distance beyond which a simulation counts as unstable [m]
const CHECK_EVERY = 20;      // images between two checks
const PIXELS_MAX = 4e6;      // most pixels of an image
const SLOW = 80, PART_LEAST = 0.5;  // images that take longer [ms] become smaller, down to this part

const of = (id) => document.getElementById(id);

function say(text) {
  of("message").textContent = text;
  of("message").hidden = !text;
}

// Shows the picture of the first image with one sentence.
function fail(text) {
  of("picture").hidden = false;
  of("bar").hidden = of("settings").hidden = true;
  say(text);
}

async function start() {
  const canvas = of("view"), gl = canvas.getContext("webgl2", {alpha: false, antialias: false, powerPreference: "high-performance"});
  if (!gl) return fail("This browser cannot show the scene, because it has no WebGL 2; here is its first image.");
  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    fail("The graphics driver stopped the scene; reload the page to start it again.");
  });
  try {
    const {scene, array} = await unpack(of("data").textContent);
    const runner = scene.live ? new Runner(gl, scene.live, array) : null;
    const renderer = new Renderer(gl, scene, array, (number) => runner.buffers.all[number]);
    await renderer.ready;
    window.page = new Controls(canvas, gl, scene, array, runner, renderer);
  } catch (error) {
    if (!gl.isContextLost()) fail(`This browser cannot show the scene (${error.message}); here is its first image.`);
  }
}

class Controls {
  constructor(canvas, gl, scene, array, runner, renderer) {
    Object.assign(this, {canvas, gl, scene, runner, renderer, frame: 0, rest: 0, part: 1, drawn: 0, pointers: new Map(), through: ""});
    this.saved = {...scene.camera};
    this.cameras = (scene.cameras ?? []).map((one) => ({...one, frames: array(one.frames)}));
    this.cuts = scene.cuts ? array(scene.cuts) : null;
    this.steps = scene.steps ? array(scene.steps) : null;
    this.isMoving = scene.frames > 1 || !!runner;
    this.isPlaying = this.isMoving && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.credits();
    this.bar();
    if (runner) this.settings();
    this.listen();
    this.showPlaying();
    new ResizeObserver(() => { this.changed = true; }).observe(canvas);
    this.changed = true;
    requestAnimationFrame((now) => { this.last = now; this.tick(now); });
  }

  // --- images ---------------------------------------------------------------------------------------------------------

  tick(now) {
    if (this.gl.isContextLost() || this.failed) return;
    const due = Math.min((now - this.last) / 1000, 0.1) * (this.runner ? 60 : this.scene.rate);
    this.last = now;
    if (this.isPlaying) {
      this.rest = Math.min(this.rest + due, STEPS_AT_ONCE);
      while (this.rest >= 1) { this.step(); this.rest -= 1; }
    }
    try {
      if (this.changed) this.draw();
    } catch (error) {
      this.failed = true;
      return fail(`This browser cannot show the scene (${error.message}); here is its first image.`);
    }
    requestAnimationFrame((time) => this.tick(time));
  }

  step() {
    if (this.runner) {
      if (this.runner.step >= this.runner.length) this.runner.reset();
      this.runner.advance();
    } else this.frame = (this.frame + 1) % this.scene.frames;
    this.changed = true;
  }

  reset() {
    if (this.runner) this.runner.reset();
    this.frame = this.rest = 0;
    this.release();
    say("");
    this.changed = true;
  }

  // The image of the tables for the present step, and the image that reads the buffers of the simulation as it does.
  images() {
    if (!this.runner) return [this.frame, this.frame];
    const step = this.runner.step ? 1 + this.runner.index(this.runner.step - 1) : 0;
    return this.steps ? [this.steps[2 * step], this.steps[2 * step + 1]] : [step, step];
  }

  draw() {
    const {canvas, renderer} = this, begun = performance.now();
    const most = Math.sqrt(PIXELS_MAX / Math.max(canvas.clientWidth * canvas.clientHeight, 1));
    const ratio = Math.min(devicePixelRatio || 1, most) * this.part;
    const width = Math.max(Math.round(canvas.clientWidth * ratio), 1), height = Math.max(Math.round(canvas.clientHeight * ratio), 1);
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    this.changed = false;
    this.place();
    renderer.draw(...this.images());
    if (!this.drawn++) this.shown();
    if (this.runner && this.drawn % CHECK_EVERY === 0) this.check();
    if (this.isPlaying) this.adapt(performance.now() - begun);
    this.showTime();
  }

  shown() {
    of("picture").hidden = true;
    of("bar").hidden = !this.isMoving && !document.fullscreenEnabled && of("through").hidden;
    document.documentElement.dataset.shown = "yes";
  }

  // Smaller images where they take too long.
  adapt(took) {
    this.took = 0.8 * (this.took ?? took) + 0.2 * took;
    if (this.took > SLOW && this.part > PART_LEAST && this.drawn % 30 === 0) { this.part = Math.max(this.part * 0.8, PART_LEAST); this.took = 0; }
  }

  check() {
    const names = Object.keys(this.runner.live.outputs);
    const name = names[(this.drawn / CHECK_EVERY) % names.length | 0];
    if (!name || !this.runner.positions(name).some((x) => !(Math.abs(x) <= LIMIT))) return;
    this.play(false);
    say("The simulation became unstable and stopped. Press R to start again.");
  }

  // Puts the camera of the scene in place of the free one, if it is chosen.
  place() {
    const [frame] = this.images(), number = this.through === "cuts" ? this.cuts[frame] : Number(this.through);
    const one = this.through === "" ? null : this.cameras[number];
    if (!one) return;
    const [x, y, z, yaw, pitch, roll, distance, field] = one.frames.subarray(8 * frame, 8 * frame + 8);
    Object.assign(this.renderer.camera, {target: [x, y, z], yaw, pitch, roll, distance, field_of_view: field, orthographic: one.orthographic});
  }

  // --- camera ---------------------------------------------------------------------------------------------------------

  free() {  // moving the view leaves the camera of the scene where it is
    this.through = of("through").value = "";
    this.changed = true;
    return this.renderer.camera;
  }

  turn(right, up) {
    const camera = this.free();
    camera.yaw -= right;
    camera.pitch = Math.max(-89.9, Math.min(89.9, camera.pitch + up));
  }

  pan(right, up) {  // parts of the height of the image
    const camera = this.free(), [x, y] = camera.axes(), size = 2 * camera.tangent * camera.distance;
    camera.target = V.add(V.add(camera.target, x, -right * size), y, up * size);
  }

  zoom(factor) {
    const camera = this.free(), size = this.renderer.seen ? this.renderer.seen.subject[3] : 1;
    camera.distance = Math.max(1e-3 * size, Math.min(1e3 * size, camera.distance * factor));
  }

  home() {
    this.free();
    Object.assign(this.renderer.camera, {roll: 0}, this.saved);
  }

  // --- pointers -------------------------------------------------------------------------------------------------------

  listen() {
    const {canvas} = this, on = (name, call) => canvas.addEventListener(name, call, {passive: false});
    on("contextmenu", (event) => event.preventDefault());
    on("wheel", (event) => { event.preventDefault(); this.zoom(Math.exp(event.deltaY * (event.deltaMode ? 0.03 : 0.001))); });
    on("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
      canvas.classList.add("holds");
      if (this.pointers.size > 1) this.release();
      else if (event.button === 0 && !event.shiftKey) this.grab(event);
    });
    on("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) on(name, (event) => {
      this.pointers.delete(event.pointerId);
      canvas.classList.toggle("holds", this.pointers.size > 0);
      this.release();
    });
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("hashchange", () => this.fromAddress());
  }

  move(event) {
    const before = this.pointers.get(event.pointerId), {clientHeight} = this.canvas;
    if (!before) return;
    const now = [event.clientX, event.clientY], [right, down] = V.add(now, before, -1);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    this.pointers.set(event.pointerId, now);
    if (this.held) this.drag(event);
    else if (others.length) {
      const far = (place) => Math.max(V.length(V.add(place, others[0], -1)), 1);
      this.zoom(far(before) / far(now));
      this.pan(right / 2 / clientHeight, down / 2 / clientHeight);
    } else if (event.shiftKey || event.buttons & 6) this.pan(right / clientHeight, down / clientHeight);
    else this.turn(right * 0.4, down * 0.4);
  }

  // Holds the point of a simulation that is nearest to the pointer, if one is near.
  grab(event) {
    if (!this.runner) return;
    const {width, height, clip} = this.renderer.seen, [x, y] = this.at(event);
    let best = 0.05;
    for (const name of Object.keys(this.runner.hands)) {
      const places = this.runner.positions(name);
      for (let k = 0; k < places.length; k += 3) {
        const [cx, cy, , w] = M.apply(clip, [places[k], places[k + 1], places[k + 2]]);
        const far = w > 0 ? Math.hypot((cx / w - x) * width / height, cy / w - y) : Infinity;
        if (far < best) { best = far; this.held = {name, record: k / 3, depth: w}; }
      }
    }
    if (this.held) this.drag(event);
  }

  drag(event) {
    const {camera, right, up, back, eye, width, height} = this.renderer.seen, [x, y] = this.at(event), {name, record, depth} = this.held;
    const away = camera.orthographic ? camera.distance : depth, size = camera.tangent * away;
    const point = V.add(V.add(V.add(eye, back, -away), right, x * size * width / height), up, y * size);
    this.runner.grab(name, record, point, 0.05 * size);
    this.changed = true;
  }

  release() {
    if (this.held) this.runner.release();
    this.held = null;
  }

  at(event) {  // -1 to 1, right and up
    const box = this.canvas.getBoundingClientRect();
    return [2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height];
  }

  key(event) {
    const inCanvas = event.target === this.canvas || event.target === document.body;
    if (!inCanvas || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = (right, up) => event.shiftKey ? this.pan(-0.05 * right, -0.05 * up) : this.turn(-5 * right, 5 * up);
    const keys = {
      " ": () => this.play(!this.isPlaying), r: () => this.reset(), f: () => this.full(), Home: () => this.home(),
      ".": () => { this.play(false); if (this.isMoving) this.step(); },
      ArrowLeft: () => arrow(-1, 0), ArrowRight: () => arrow(1, 0), ArrowUp: () => arrow(0, 1), ArrowDown: () => arrow(0, -1),
      "+": () => this.zoom(0.9), "=": () => this.zoom(0.9), "-": () => this.zoom(1 / 0.9),
    };
    const act = keys[event.key.length > 1 ? event.key : event.key.toLowerCase()];
    if (act) { act(); event.preventDefault(); }
  }

  // --- bar ------------------------------------------------------------------------------------------------------------

  bar() {
    of("play").hidden = of("reset").hidden = of("now").hidden = !this.isMoving;
    of("play").onclick = () => this.play(!this.isPlaying);
    of("reset").onclick = () => this.reset();
    of("full").hidden = !document.fullscreenEnabled;
    of("full").onclick = () => this.full();
    const time = of("time");
    time.hidden = !!this.runner || this.scene.frames < 2;
    time.max = this.scene.frames - 1;
    time.oninput = () => { this.play(false); this.frame = Number(time.value); this.changed = true; };
    const through = of("through"), choice = (value, text) => through.add(new Option(text, value));
    choice("", "Free view");
    if (this.cuts) choice("cuts", "Cuts");
    this.cameras.forEach((one, i) => choice(String(i), one.name));
    through.hidden = !this.cameras.length;
    through.onchange = () => { this.through = through.value; this.changed = true; };
  }

  play(on) {
    this.isPlaying = on && this.isMoving;
    this.rest = 0;
    this.showPlaying();
  }

  showPlaying() { of("play").textContent = this.isPlaying ? "Pause" : "Play"; }

  showTime() {
    const seconds = this.runner ? this.runner.step / 60 : this.frame / this.scene.rate, text = `${seconds.toFixed(2)} s`;
    of("now").textContent = text;
    of("time").value = this.frame;
    of("time").setAttribute("aria-valuetext", text);
  }

  full() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (document.fullscreenEnabled) document.documentElement.requestFullscreen();
  }

  credits() {
    of("title").textContent = this.scene.title;
    for (const line of this.scene.credits ?? []) {
      const row = document.createElement("p"), text = document.createElement("bdi");
      text.textContent = line;
      row.append(text);
      of("credits").append(row);
    }
  }

  // --- settings -------------------------------------------------------------------------------------------------------

  settings() {
    this.sliders = this.runner.sliders.map((one, number) => this.slider(one, number));
    of("settings").hidden = !this.sliders.length;
    of("settings").open = innerWidth > 600 && innerHeight > 420;
    this.fromAddress();
  }

  slider(one, number) {
    const group = this.group(one.node), row = document.createElement("label"), name = document.createElement("bdi");
    const input = document.createElement("input"), value = document.createElement("output");
    const place = (x) => 1000 * (one.log ? Math.log(x / one.lo) / Math.log(one.hi / one.lo) : (x - one.lo) / (one.hi - one.lo));
    const at = (p) => one.log ? one.lo * Math.pow(one.hi / one.lo, p / 1000) : one.lo + (one.hi - one.lo) * p / 1000;
    row.className = "setting"; name.textContent = one.label;
    Object.assign(input, {type: "range", min: 0, max: 1000, step: "any"});
    const show = () => {
      value.textContent = [Number(one.now.toPrecision(3)), one.unit].filter((part) => part !== "").join(" ");
      input.value = place(one.now);
      input.setAttribute("aria-valuetext", value.textContent);
    };
    const set = (x) => { this.runner.set(number, x); show(); this.changed = true; };
    input.oninput = () => { set(at(Number(input.value))); this.toAddress(); };
    input.ondblclick = () => { set(one.start); this.toAddress(); };
    row.append(name, input, value);
    group.append(row);
    show();
    return {key: `${one.node}.${one.name}`, one, set};
  }

  group(node) {
    this.groups ??= new Map();
    if (!this.groups.has(node)) {
      const box = document.createElement("fieldset"), legend = document.createElement("legend"), name = document.createElement("bdi");
      name.textContent = node;
      legend.append(name); box.append(legend); of("settings").append(box);
      this.groups.set(node, box);
    }
    return this.groups.get(node);
  }

  // Values that differ from the start stand in the address, so that a link shares them.
  toAddress() {
    const values = this.sliders.filter(({one}) => one.now !== one.start)
      .map(({key, one}) => `${encodeURIComponent(key)}=${Number(one.now.toPrecision(6))}`);
    try { history.replaceState(null, "", `#${values.join("&")}`); } catch { /* a frame without an address of its own */ }
  }

  fromAddress() {
    if (!this.sliders) return;
    const values = new URLSearchParams(location.hash.slice(1));
    for (const {key, one, set} of this.sliders) {
      const value = values.has(key) ? Number(values.get(key)) : NaN;
      if (Number.isFinite(value)) set(value);
      else if (one.now !== one.start) set(one.start);
    }
  }
}
