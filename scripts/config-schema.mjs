// Writes the JSON schema of the configuration, apps/cli/parley.config.schema.json, from the built command line.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, runNode } from "./install.mjs";
import { setup } from "./setup.mjs";

await setup({ quiet: true });
const { configJsonSchema } = await import("../apps/cli/dist/config/json-schema.js");
const file = join(root, "apps/cli/parley.config.schema.json");
writeFileSync(file, `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`);
process.exitCode = await runNode(["node_modules/@biomejs/biome/bin/biome", "format", "--write", file]);
