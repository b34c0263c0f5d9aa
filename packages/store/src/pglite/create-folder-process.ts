// Run by `create-folder.ts` in a process of its own: creates the database's files and ends.
import { PGlite } from "@electric-sql/pglite";
import { DurableNodeFS, durableStartParams } from "./durable-node-fs.js";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("the folder to create is missing");
const pglite = await PGlite.create({ fs: new DurableNodeFS(folder), startParams: durableStartParams() });
await pglite.close();
process.exit(0);
