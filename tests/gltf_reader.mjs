// Checks and reads a binary glTF file with packages of npm: `node gltf_reader.mjs FILE FRAMES RATE`, beside
// node_modules with gltf-validator and three.  Prints the validator's issues, and the world positions of all meshes
// as three.js skins them, by name and frame.
import { readFileSync } from "node:fs";
import validator from "gltf-validator";
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

globalThis.self = globalThis;
const [path, frames, rate] = process.argv.slice(2);
const data = readFileSync(path);
const report = await validator.validateBytes(new Uint8Array(data));

const loader = new GLTFLoader();
loader.register(() => ({ name: "no images", loadTexture: async () => new THREE.Texture() }));
const gltf = await loader.parseAsync(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength), "");
const mixer = new THREE.AnimationMixer(gltf.scene);
for (const clip of gltf.animations) mixer.clipAction(clip).setLoop(THREE.LoopOnce).play();
const meshes = {};
gltf.scene.traverse((one) => {
  if (one.geometry) meshes[one.name] = { type: one.type, frames: [], mesh: one };
});
const place = new THREE.Vector3();
for (let frame = 0; frame < Number(frames); frame++) {
  mixer.setTime(frame / Number(rate));
  gltf.scene.updateMatrixWorld(true);
  for (const found of Object.values(meshes)) {
    found.mesh.skeleton?.update();
    const rows = [];
    for (let vertex = 0; vertex < found.mesh.geometry.attributes.position.count; vertex++) {
      found.mesh.getVertexPosition?.(vertex, place) ?? place.fromBufferAttribute(found.mesh.geometry.attributes.position, vertex);
      rows.push(place.applyMatrix4(found.mesh.matrixWorld).toArray());
    }
    found.frames.push(rows);
  }
}
for (const found of Object.values(meshes)) delete found.mesh;
console.log(JSON.stringify({ issues: report.issues, animations: gltf.animations.length, meshes }));
