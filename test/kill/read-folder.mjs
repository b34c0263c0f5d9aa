// Reads the tables of an embedded store that no process has open: node read-folder.mjs <folder> <JSON list of
// statements>.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const store = new URL("../../packages/store/", import.meta.url);
// The same copy that the store uses.
const fromStore = createRequire(new URL("package.json", store));

const [folder, statements] = process.argv.slice(2);
const { query, close } = await (existsSync(join(folder, "postgres")) ? openServer() : openPglite());
const results = [];
for (const statement of JSON.parse(statements)) results.push((await query(statement)).rows);
await close();
process.stdout.write(JSON.stringify(results));

async function openPglite() {
  const { PGlite } = await import(fromStore.resolve("@electric-sql/pglite"));
  const database = await PGlite.create({ dataDir: join(folder, "database") });
  return { query: (text) => database.query(text), close: () => database.close() };
}

async function openServer() {
  const own = (name) => import(new URL(`dist/private-postgres/${name}.js`, store).href);
  const [{ findBinaries }, { PrivateServer }] = await Promise.all([own("binaries"), own("private-server")]);
  const server = await PrivateServer.open({ folder, binaries: await findBinaries(), durable: true });
  const { default: pg } = await import(fromStore.resolve("pg"));
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return {
    query: (text) => client.query(text),
    async close() {
      await client.end();
      await server.close();
    },
  };
}
