// Opens a store in a fresh process, writes one line when it can be used, and waits to be terminated.
const [how, folder] = process.argv.slice(2);
const startedAt = performance.now();
let close;
// Closed properly, so that the next one has no crash to recover from.
process.once("SIGTERM", async () => {
  await close?.();
  process.exit();
});
if (how === "postgres" || how === "pglite") {
  const { openEmbedded } = await import("@parley/store/embedded");
  const { store } = await openEmbedded({ folder, engine: how });
  close = () => store.close();
  await store.forOwner("bench").list({ limit: 1 });
} else {
  // The database alone, on this thread, as published.
  const { createRequire } = await import("node:module");
  const fromStore = createRequire(import.meta.resolve("@parley/store/pglite"));
  const { PGlite } = await import(fromStore.resolve("@electric-sql/pglite"));
  const database = await PGlite.create(folder);
  close = () => database.close();
  await database.query("SELECT 1");
}
const { rss } = process.memoryUsage();
console.log(JSON.stringify({ openMs: performance.now() - startedAt, rss }));
setInterval(() => {}, 1_000_000);
