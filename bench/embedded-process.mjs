// A node on an embedded store in a fresh process: its startup time, its memory when idle, and its work.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createProvider, finish, follow, isEvent, load, openNode, PIECE } from "./runtime-node.mjs";
import { median } from "./summarise.mjs";

const [engine, folder, seconds] = process.argv.slice(2);
const startedAt = performance.now();
const { openEmbedded } = await import("@parley/store/embedded");
const opened = await openEmbedded({ folder, engine });
await opened.store.forOwner("bench").list({ limit: 1 });
const openMs = performance.now() - startedAt;

const lib = await load();
const provider = createProvider(lib, async ({ write }) => {
  for (let n = 0; n < 10; n += 1) write({ type: "delta", textDelta: PIECE, delta: PIECE.repeat(n + 1) });
  finish(write, PIECE.repeat(10));
});
const { node, owner } = await openNode(lib, provider, { store: opened.store, wake: opened.wake });
let sent = 0;
const turn = async (conversationId) => {
  const at = performance.now();
  let firstMs;
  const sealed = follow(owner, conversationId, isEvent("turn-sealed"), (frame) => {
    if (firstMs === undefined && isEvent("text-delta")(frame)) firstMs = performance.now() - at;
  });
  sent += 1;
  await owner.send({
    conversationId,
    messageId: `${process.pid}.${sent}`,
    message: "Hello",
    ifBusy: "reject",
  });
  await sealed;
  return firstMs;
};
const conversations = Array.from({ length: 50 }, (_, index) => `${process.pid}.${index}`);
for (const id of conversations) {
  await owner.create({ id });
  await turn(id);
}
const figures = { openMs, idleBytes: await atRest(), turns: {}, firstMs: {} };
for (const count of [1, 10, 50]) {
  const firsts = [];
  const end = performance.now() + Number(seconds) * 1_000;
  const begun = performance.now();
  await Promise.all(
    conversations.slice(0, count).map(async (id) => {
      while (performance.now() < end) firsts.push(await turn(id));
    }),
  );
  figures.turns[count] = firsts.length / ((performance.now() - begun) / 1_000);
  figures.firstMs[count] = median(firsts.filter((each) => each !== undefined));
}
console.log(JSON.stringify(figures));
await node.close();
await opened.wake.close?.();
await opened.store.close();

/** Returns the memory of this process and of the server in the folder, each page counted once. */
async function atRest() {
  globalThis.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  globalThis.gc?.();
  const data = join(folder, "postgres", "data");
  const isOurs = (pid) => {
    try {
      return Number(pid) === process.pid || readlinkSync(`/proc/${pid}/cwd`) === data;
    } catch {
      return false;
    }
  };
  const shares = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOurs(name))
    .map((pid) => Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))[1]));
  return shares.reduce((sum, share) => sum + share, 0) * 1024;
}
