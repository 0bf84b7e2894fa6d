// Prints what differs in VRM extensions of a file from their published types. Arguments: FILE.vrm EXTENSION...
import fs from "node:fs";
import ts from "typescript";

const data = fs.readFileSync(process.argv[2]);
const json = JSON.parse(data.subarray(20, 20 + data.readUInt32LE(12)).toString());
const types = {
  VRMC_vrm: ["VRMCVRM", "@pixiv/types-vrmc-vrm-1.0"],
  VRMC_springBone: ["VRMCSpringBone", "@pixiv/types-vrmc-springbone-1.0"],
};
const source = process.argv.slice(3).map((name) => {
  const [type, from] = types[name];
  return `import type { ${type} } from "${from}";\nexport const ${name}: ${type} = ${JSON.stringify(json.extensions[name])};`;
});
fs.writeFileSync("checked.ts", source.join("\n"));
const program = ts.createProgram(["checked.ts"], {
  noEmit: true, strict: true, skipLibCheck: true, moduleResolution: ts.ModuleResolutionKind.Node10, types: [],
});
const text = (one) => ts.flattenDiagnosticMessageText(one.messageText, " ");
console.log(JSON.stringify(ts.getPreEmitDiagnostics(program).map(text)));
