// One part of the way from a model's API to a client, in a process of its own: starts, says where it listens, and tells
// its own CPU time and memory when asked.
const [file, name, options] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const module = await import(file);
const started = await module[name](JSON.parse(options));
process.on("message", async ({ ask }) => {
  // What else may be asked, the part itself answers.
  if (ask !== "gc" && ask !== "young-gc" && ask !== "figures") return;
  if (ask === "gc") globalThis.gc?.();
  if (ask === "young-gc") globalThis.gc?.({ type: "minor" });
  const { user, system } = process.cpuUsage();
  process.send({ cpuUs: user + system, rss: process.memoryUsage().rss });
});
process.send({ started });
