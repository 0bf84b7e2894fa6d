// Prints the errors of gltf-validator for each file.
import fs from "node:fs";
import validator from "gltf-validator";

const found = [];
for (const path of process.argv.slice(2)) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(path)));
  found.push({ errors: report.issues.messages.filter((message) => message.severity === 0) });
}
console.log(JSON.stringify(found));
