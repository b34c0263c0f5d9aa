// One part of the path from a model's API to a client, in its own process: starts, reports its address, and
// sends its own CPU time and memory on request.
const [file, name, options] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const module = await import(file);
const started = await module[name](JSON.parse(options));
process.on("message", async ({ ask }) => {
  // The part itself handles all other requests.
  if (ask !== "gc" && ask !== "young-gc" && ask !== "figures") return;
  if (ask === "gc") globalThis.gc?.();
  if (ask === "young-gc") globalThis.gc?.({ type: "minor" });
  const { user, system } = process.cpuUsage();
  process.send({ cpuUs: user + system, rss: process.memoryUsage().rss });
});
process.send({ started });
