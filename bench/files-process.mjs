// Files in a fresh process: the time to open a store with them, or the memory that an upload takes in a
// server.
import { createHash } from "node:crypto";

const [task, engine, folder, amount] = process.argv.slice(2);
const startedAt = performance.now();
const { openEmbedded } = await import("@parley/store/embedded");
const opened = await openEmbedded({ folder, engine });
await opened.store.forOwner("bench").list({ limit: 1 });
const openMs = performance.now() - startedAt;

const pieceBytes = 256 * 1_024;
const tasks = {
  open: async () => ({ openMs }),
  /** Fills the store with files of 100 MB, without a server. */
  async fill() {
    const store = opened.store.forOwner("bench");
    const long = 86_400_000;
    const piecesOfFile = 400;
    let left = Math.ceil(Number(amount) / pieceBytes);
    for (let file = 0; left > 0; file += 1) {
      const id = `fill-${file}`;
      const hash = createHash("sha256");
      await store.beginUpload({ id, stalledMs: long });
      const pieces = Math.min(left, piecesOfFile);
      for (let n = 0; n < pieces; n += 1) {
        const data = crypto.getRandomValues(new Uint8Array(65_536));
        const piece = new Uint8Array(pieceBytes);
        for (let at = 0; at < pieceBytes; at += data.length) piece.set(data, at);
        hash.update(piece);
        await store.writePiece({ id, n, data: piece, stalledMs: long, ownerBytes: 2 ** 50 });
      }
      left -= pieces;
      const end = { id, hash: hash.digest("hex"), name: "a", mediaType: "b/c", unsentMs: long };
      await store.finishUpload(end);
    }
    return { bytes: (await store.fileUsage()).bytes };
  },
  /** Uploads a file over a socket, from a separate process; returns the maximum growth of this process. */
  async upload() {
    const [{ createModelCatalog, createRuntime }, { serve }, { execFile }] = await Promise.all([
      import("@parley/core/runtime"),
      import("@parley/server"),
      import("node:child_process"),
    ]);
    const provider = { complete: () => Promise.reject(new Error("not used")) };
    const model = { name: "bench/one", provider, providerName: "bench", model: "one", contextWindow: 1_000 };
    const runtime = await createRuntime({
      store: opened.store,
      wake: opened.wake,
      models: createModelCatalog([model]),
    });
    const server = await serve(runtime, { host: "127.0.0.1", port: 0, auth: "open" });
    const send = (bytes) =>
      new Promise((resolve, reject) => {
        const args = ["-e", sender, String(server.port), String(bytes)];
        execFile(process.execPath, args, (error, stdout) =>
          error ? reject(error) : resolve(Number(stdout)),
        );
      });
    const settled = async () => {
      for (let round = 0; round < 3; round += 1) {
        globalThis.gc?.();
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return process.memoryUsage();
    };
    // Memory allocated once, with the first uploads, does not count as part of an upload.
    for (let round = 0; round < 3; round += 1) await send(10 * 2 ** 20);
    const before = await settled();
    let rss = 0;
    let alive = 0;
    let looks = 0;
    const look = setInterval(() => {
      const { rss: now } = process.memoryUsage();
      rss = Math.max(rss, now - before.rss);
      looks += 1;
      if (looks % 10 !== 0) return;
      globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      alive = Math.max(alive, heapUsed + external - before.heapUsed - before.external);
    }, 10);
    const from = performance.now();
    const status = await send(Number(amount));
    const ms = performance.now() - from;
    clearInterval(look);
    await server.close({ deadlineMs: 0 });
    await runtime.close();
    return { status, rss, alive, ms };
  },
};

const sender = `const [port, bytes] = process.argv.slice(1).map(Number);
const socket = require("node:net").connect(port, "127.0.0.1");
const piece = require("node:crypto").randomBytes(65_536);
let left = bytes;
const write = () => {
  while (left > 0) {
    const part = Buffer.from(left < piece.length ? piece.subarray(0, left) : piece);
    part.writeUInt32LE(left % 4294967295);
    left -= part.length;
    if (!socket.write(part)) return socket.once("drain", write);
  }
};
socket.write("POST /files?name=large.bin HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Length: " + bytes + "\\r\\n\\r\\n");
write();
socket.once("data", (data) => {
  console.log(String(data).split(" ")[1]);
  socket.destroy();
});`;

const result = await tasks[task]();
console.log(JSON.stringify(result));
await opened.wake.close?.();
await opened.store.close();
