import { createHash } from "node:crypto";
import {
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  type StoreCall,
  text,
} from "@parley/testing";
import { afterEach, describe, expect, it } from "vitest";
import { pieceBytes } from "../../messages/file-pieces.js";
import { createModelCatalog } from "../models.js";
import { createRuntime, type Runtime } from "../runtime.js";
import type { FileLimits } from "./file-limits.js";
import type { OpenedFile } from "./opened-file.js";
import type { BytesHash } from "./receive-upload.js";

const running: Runtime[] = [];
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime.close();
});

async function start(limits: Partial<FileLimits> = {}, faults?: (call: StoreCall) => "before" | undefined) {
  const clock = createManualClock();
  const store = createMemoryLogStore({ clock, ...(faults === undefined ? {} : { faults }) });
  const provider = createScriptedProvider(() => [text("Nice.")]);
  const runtime = await createRuntime({
    store,
    clock,
    models: createModelCatalog([
      { provider, providerName: "scripted", name: "scripted/one", model: "one", contextWindow: 100_000 },
    ]),
    files: { limits },
  });
  running.push(runtime);
  return { runtime, clock, store, me: runtime.forOwner("me"), provider };
}

function sha256(): BytesHash {
  const hash = createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest("hex") };
}

async function* pieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += length) yield bytes.subarray(start, start + length);
}

const incoming = (bytes: Uint8Array, name = "a.txt", length = 10_000) => ({
  name,
  bytes: pieces(bytes, length),
  hash: sha256(),
});

async function contentOf(file: OpenedFile, start = 0, end = file.size): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  for await (const piece of file.read(start, end)) read.push(piece);
  return Buffer.concat(read);
}

/** Returns bytes whose pattern has no period of a power of two. */
const patterned = (length: number) => Uint8Array.from({ length }, (_, index) => index % 251);

describe("an upload", () => {
  it.each([1, 1_000, pieceBytes, 3 * pieceBytes])(
    "gives its bytes back, however they come: %i at a time",
    async (length) => {
      const { me } = await start();
      const bytes = patterned(2 * pieceBytes + 77);
      const info = await me.files.upload(incoming(bytes, "/tmp/x/cat.bin", length));
      expect(info).toMatchObject({
        name: "cat.bin",
        size: bytes.byteLength,
        mediaType: "application/octet-stream",
        hash: createHash("sha256").update(bytes).digest("hex"),
      });
      const file = await me.files.open({ uploadId: info.id });
      expect(Buffer.compare(await contentOf(file), bytes)).toBe(0);
      expect(await contentOf(file, pieceBytes - 5, pieceBytes + 5)).toEqual(
        Buffer.from(bytes.subarray(pieceBytes - 5, pieceBytes + 5)),
      );
    },
  );

  it("that is larger than a file may be is refused with its first byte too many, and nothing of it stays", async () => {
    const { me, store } = await start({ fileBytes: pieceBytes });
    await expect(me.files.upload(incoming(patterned(pieceBytes + 1)))).rejects.toMatchObject({
      code: "too_large",
    });
    expect(await store.forOwner("me").fileUsage()).toEqual({ bytes: 0 });
    await me.files.upload(incoming(patterned(pieceBytes)));
  });

  it("beyond what the owner may have is refused, and what was there stays", async () => {
    const { me, store } = await start({ ownerBytes: 1_000 });
    const first = await me.files.upload(incoming(patterned(600)));
    await expect(me.files.upload(incoming(patterned(601)))).rejects.toMatchObject({ code: "limit_exceeded" });
    expect(await store.forOwner("me").fileUsage()).toEqual({ bytes: 600 });
    expect((await me.files.open({ uploadId: first.id })).size).toBe(600);
  });

  it("that breaks off leaves nothing behind", async () => {
    const { me, store } = await start();
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield patterned(pieceBytes + 1);
      throw new Error("gone");
    }
    await expect(me.files.upload({ name: "a", bytes: broken(), hash: sha256() })).rejects.toThrow("gone");
    expect(await store.forOwner("me").fileUsage()).toEqual({ bytes: 0 });
  });

  it("whose remains could not be dropped is collected when it has stood still for long enough", async () => {
    const { me, store, clock } = await start({ stalledMs: 1_000, sweepMs: 100 }, ({ method }) =>
      method === "dropUpload" || method === "finishUpload" ? "before" : undefined,
    );
    await expect(me.files.upload(incoming(patterned(50)))).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(await store.forOwner("me").fileUsage()).toEqual({ bytes: 50 });
    await clock.advance(2_000);
    await expect.poll(() => store.forOwner("me").fileUsage()).toEqual({ bytes: 0 });
  });

  it("is another owner's to none, by its id and by its hash", async () => {
    const { me, runtime } = await start();
    const { id, hash } = await me.files.upload(incoming(patterned(50)));
    const stranger = runtime.forOwner("stranger").files;
    const unknown = { code: "conversation_not_found" };
    await expect(stranger.open({ uploadId: id })).rejects.toMatchObject(unknown);
    await expect(stranger.sign({ uploadId: id })).rejects.toMatchObject(unknown);
    await expect(me.files.open({ uploadId: hash })).rejects.toMatchObject(unknown);
    expect(await stranger.drop(id)).toBe(false);
  });
});

describe("a signed text", () => {
  it("opens its file until it expires, and no longer", async () => {
    const { me, runtime, clock } = await start();
    const { id } = await me.files.upload(incoming(patterned(50), "a.bin"));
    const { token, expiresAt } = await me.files.sign({ uploadId: id }, { forMs: 60_000 });
    expect(expiresAt - clock.now()).toBeLessThanOrEqual(61_000);
    expect((await runtime.openSignedFile(token)).name).toBe("a.bin");
    await clock.advance(expiresAt - clock.now());
    await expect(runtime.openSignedFile(token)).rejects.toMatchObject({ code: "conversation_not_found" });
  });

  it("of a file that was dropped, and any other text, opens nothing", async () => {
    const { me, runtime } = await start();
    const { id } = await me.files.upload(incoming(patterned(50)));
    const { token } = await me.files.sign({ uploadId: id });
    await me.files.drop(id);
    const unknown = { code: "conversation_not_found" };
    await expect(runtime.openSignedFile(token)).rejects.toMatchObject(unknown);
    await expect(runtime.openSignedFile("x.y")).rejects.toMatchObject(unknown);
  });

  it("is not made for longer than an address may be valid", async () => {
    const { me } = await start({ longestAddressMs: 1_000, addressMs: 500 });
    const { id } = await me.files.upload(incoming(patterned(50)));
    await expect(me.files.sign({ uploadId: id }, { forMs: 1_001 })).rejects.toMatchObject({
      code: "invalid_request",
    });
    await me.files.sign({ uploadId: id });
  });
});
