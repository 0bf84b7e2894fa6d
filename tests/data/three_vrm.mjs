// Opens a VRM file in three-vrm, moves it and prints the places of nodes after every step of 1/60 s.
// Arguments: FILE.vrm MOTION.json, with "matrices" of the whole (16 numbers, row by row) and "nodes" to print.
import fs from "node:fs";

globalThis.self = globalThis;
globalThis.createImageBitmap = async () => ({ width: 1, height: 1, close() {} });
const THREE = await import("three");
const { GLTFLoader } = await import("three/examples/jsm/loaders/GLTFLoader.js");
const { VRMLoaderPlugin } = await import("@pixiv/three-vrm");

const [path, motionPath] = process.argv.slice(2);
const data = fs.readFileSync(path);
const motion = JSON.parse(fs.readFileSync(motionPath));
const loader = new GLTFLoader();
loader.register((parser) => new VRMLoaderPlugin(parser));
const gltf = await loader.parseAsync(data.buffer.slice(data.byteOffset, data.byteOffset + data.length), "");
const vrm = gltf.userData.vrm;
const nodes = await Promise.all(motion.nodes.map((number) => gltf.parser.getDependency("node", number)));

// The length of a bone is taken from a matrix of the step before if its end has moved since: take the one at rest.
for (const joint of vrm.springBoneManager?.joints ?? []) {
  joint._calcWorldSpaceBoneLength = function () {
    const scale = new THREE.Vector3().setFromMatrixScale(this.bone.matrixWorld).x;
    this._worldSpaceBoneLength = this._initialLocalChildPosition.length() * scale;
  };
}
const places = [];
vrm.scene.matrixAutoUpdate = false;
motion.matrices.forEach((matrix, step) => {
  vrm.scene.matrix.set(...matrix);
  vrm.scene.updateMatrixWorld(true);
  if (step === 0) vrm.springBoneManager?.reset();
  else vrm.springBoneManager?.update(1 / 60);
  vrm.scene.updateMatrixWorld(true);
  places.push(nodes.map((node) => new THREE.Vector3().setFromMatrixPosition(node.matrixWorld).toArray()));
});
console.log(JSON.stringify({
  version: vrm.meta.metaVersion,
  name: vrm.meta.name ?? vrm.meta.title,
  joints: vrm.springBoneManager?.joints.size ?? 0,
  colliders: vrm.springBoneManager?.colliders.length ?? 0,
  bones: Object.keys(vrm.humanoid.humanBones).length,
  expressions: vrm.expressionManager?.expressions.map((one) => one.expressionName) ?? [],
  places,
}));
