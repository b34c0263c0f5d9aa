// Reads the tables of a PGlite folder that nobody has open: node read-folder.mjs <folder> <JSON list of statements>.
import { createRequire } from "node:module";
import { join } from "node:path";

// The very copy that the store uses.
const fromStore = createRequire(new URL("../../packages/store/package.json", import.meta.url));
const { PGlite } = await import(fromStore.resolve("@electric-sql/pglite"));

const [folder, statements] = process.argv.slice(2);
const database = await PGlite.create({ dataDir: join(folder, "database") });
const results = [];
for (const statement of JSON.parse(statements)) results.push((await database.query(statement)).rows);
await database.close();
process.stdout.write(JSON.stringify(results));
