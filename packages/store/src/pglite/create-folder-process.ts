// Run by `create-folder.ts` in a separate process: creates the database's files and ends.
import { writeSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import { DurableNodeFS, startParams } from "./durable-node-fs.js";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("the folder to create is missing");
const fs = new DurableNodeFS(folder, {
  onOperation() {},
  onDiskFailure(error) {
    // Synchronously: PGlite may spin forever after it.
    writeSync(process.stderr.fd, `${error.message}\n`);
    process.exit(1);
  },
});
const pglite = await PGlite.create({ fs, startParams: startParams({ durable: true }) });
await pglite.close();
process.exit(0);
