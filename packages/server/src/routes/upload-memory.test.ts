import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";
import { systemClock } from "@parley/core";
import type { LogStore, LogStoreRoot, UploadPiece } from "@parley/core/ports";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { createMemoryLogStore, createScriptedProvider } from "@parley/testing";
import { expect, it } from "vitest";
import { serve } from "../serve.js";

const mebibyte = 2 ** 20;
const uploaded = 100 * mebibyte;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Measures the live memory of this thread: objects, and bytes outside of the heap. */
function aliveBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Milliseconds that the store takes for a piece: longer than the sender does, so that a missing backpressure shows. */
const pieceMs = 3;

/** Creates a store that keeps no bytes, so that what is left in memory is the server's. */
function forgetful(root: LogStoreRoot, onPiece: (piece: UploadPiece) => void): LogStoreRoot {
  return {
    ...root,
    forOwner(owner): LogStore {
      const store = root.forOwner(owner);
      return {
        ...store,
        async writePiece(piece) {
          onPiece(piece);
          await new Promise((resolve) => setTimeout(resolve, pieceMs));
          return { blob: 1 };
        },
      };
    },
  };
}

/** Sends a body as fast as it is accepted, from a thread of its own. Resolves with the status of the answer. */
function send(port: number, bytes: number): Promise<number> {
  const worker = new Worker(
    `const { workerData, parentPort } = require("node:worker_threads");
    const socket = require("node:net").connect(workerData.port, "127.0.0.1");
    const piece = Buffer.alloc(65_536, "x");
    let left = workerData.bytes;
    const write = () => {
      while (left > 0) {
        left -= piece.length;
        if (!socket.write(piece)) return socket.once("drain", write);
      }
    };
    socket.write("POST /files?name=large.txt HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nContent-Length: " + workerData.bytes + "\\r\\n\\r\\n");
    write();
    socket.once("data", (data) => {
      parentPort.postMessage(Number(String(data).split(" ")[1]));
      socket.destroy();
    });`,
    { eval: true, workerData: { port, bytes } },
  );
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}

it("takes less than 20 MB for an upload of 100 MB", async () => {
  let taken = 0;
  let most = 0;
  let pieces = 0;
  const store = forgetful(createMemoryLogStore({ clock: systemClock }), ({ data }) => {
    taken += data.byteLength;
    pieces += 1;
    if (pieces % 20 === 0) most = Math.max(most, aliveBytes());
  });
  const provider = createScriptedProvider([]);
  const runtime = await createRuntime({
    store,
    models: createModelCatalog([
      { provider, providerName: "scripted", name: "scripted/one", model: "one", contextWindow: 1_000 },
    ]),
  });
  const server = await serve(runtime, { port: 0 });
  try {
    // Allocations that are made once, with the first upload, are no part of an upload.
    expect(await send(server.port, mebibyte)).toBe(201);
    const before = aliveBytes();
    taken = 0;
    expect(await send(server.port, uploaded)).toBe(201);
    expect(taken).toBe(uploaded);
    const added = most - before;
    console.info(`upload of 100 MB: at most ${(added / mebibyte).toFixed(1)} MB more were alive`);
    expect(added).toBeLessThan(20 * mebibyte);
  } finally {
    await server.close({ deadlineMs: 0 });
    await runtime.close();
  }
}, 60_000);
