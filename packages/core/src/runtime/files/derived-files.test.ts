import { createHash } from "node:crypto";
import { createManualClock, createMemoryLogStore, createScriptedProvider, text } from "@parley/testing";
import { afterEach, describe, expect, it } from "vitest";
import { createModelCatalog } from "../models.js";
import { createRuntime, type Runtime } from "../runtime.js";
import type { FileDeriver } from "./derived-files.js";
import type { FileLimits } from "./file-limits.js";
import type { OpenedFile } from "./opened-file.js";

const running: Runtime[] = [];
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime.close();
});

/** Derives the first three bytes of a file; nothing if the first one is zero. */
class FirstBytes implements FileDeriver {
  calls = 0;
  most = 0;
  #underWay = 0;

  canDerive(): boolean {
    return true;
  }

  async derive(_variant: string, _file: object, bytes: Uint8Array): Promise<Uint8Array | undefined> {
    this.calls += 1;
    this.#underWay += 1;
    this.most = Math.max(this.most, this.#underWay);
    await new Promise((resolve) => setImmediate(resolve));
    this.#underWay -= 1;
    if (bytes[0] === 255) throw new Error("not now");
    return bytes[0] === 0 ? undefined : bytes.slice(0, 3);
  }

  async close(): Promise<void> {}
}

async function start({ deriver, limits = {} }: { deriver?: FileDeriver; limits?: Partial<FileLimits> } = {}) {
  const clock = createManualClock();
  const store = createMemoryLogStore({ clock });
  const provider = createScriptedProvider(() => [text("Nice.")]);
  const runtime = await createRuntime({
    store,
    clock,
    models: createModelCatalog([
      { provider, providerName: "scripted", name: "scripted/one", model: "one", contextWindow: 100_000 },
    ]),
    files: { limits, ...(deriver === undefined ? {} : { deriver }) },
  });
  running.push(runtime);
  const upload = async (...bytes: number[]) => {
    const hash = createHash("sha256");
    const { id } = await runtime.forOwner("me").files.upload({
      name: "photo.big.png",
      bytes: (async function* () {
        yield Uint8Array.from(bytes);
      })(),
      hash: { update: (piece) => void hash.update(piece), digest: () => hash.digest("hex") },
    });
    return { uploadId: id };
  };
  return { me: runtime.forOwner("me").files, runtime, store, upload };
}

async function contentOf(file: OpenedFile, start = 0, end = file.size): Promise<number[]> {
  const read: number[] = [];
  for await (const piece of file.read(start, end)) read.push(...piece);
  return read;
}

const thumbnail = { variant: "thumbnail" } as const;
const missing = { code: "conversation_not_found" };

describe("a derived form of a file", () => {
  it("is made when it is first asked for, and once", async () => {
    const deriver = new FirstBytes();
    const { me, upload } = await start({ deriver });
    const place = await upload(1, 2, 3, 4, 5);
    expect(deriver.calls).toBe(0);
    const files = await Promise.all([1, 2, 3].map(() => me.open(place, thumbnail)));
    files.push(await me.open(place, thumbnail));
    for (const file of files) {
      expect(file).toMatchObject({ name: "photo.big.webp", mediaType: "image/webp", size: 3 });
      expect(await contentOf(file)).toEqual([1, 2, 3]);
    }
    expect(await contentOf(files[0] as OpenedFile, 1, 2)).toEqual([2]);
    expect(deriver.calls).toBe(1);
    expect(files[0]?.hash).not.toBe((await me.open(place)).hash);
    expect(await contentOf(await me.open(place, { variant: "text" }))).toEqual([1, 2, 3]);
    expect(deriver.calls).toBe(2);
  });

  it("is found by a signed text, too", async () => {
    const { me, runtime, upload } = await start({ deriver: new FirstBytes() });
    const { token } = await me.sign(await upload(1, 2, 3, 4));
    expect((await runtime.openSignedFile(token)).size).toBe(4);
    expect((await runtime.openSignedFile(token, thumbnail)).size).toBe(3);
  });

  it("that there is none of is not looked for again", async () => {
    const deriver = new FirstBytes();
    const { me, upload } = await start({ deriver });
    const place = await upload(0, 1);
    await expect(me.open(place, thumbnail)).rejects.toMatchObject(missing);
    await expect(me.open(place, thumbnail)).rejects.toMatchObject(missing);
    expect(deriver.calls).toBe(1);
  });

  it("that could not be made now is made later", async () => {
    const deriver = new FirstBytes();
    const { me, upload } = await start({ deriver });
    const place = await upload(255);
    await expect(me.open(place, thumbnail)).rejects.toThrow("not now");
    await expect(me.open(place, thumbnail)).rejects.toThrow("not now");
    expect(deriver.calls).toBe(2);
  });

  it("is made of one file at a time, and of so many in all", async () => {
    const deriver = new FirstBytes();
    const { me, upload } = await start({ deriver });
    const places = await Promise.all(Array.from({ length: 101 }, (_, index) => upload(1, 2, 3, index)));
    const outcomes = await Promise.allSettled(places.map((place) => me.open(place, thumbnail)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
    expect(outcomes.at(-1)).toMatchObject({ reason: { code: "limit_exceeded", retryable: true } });
    expect(deriver.most).toBe(1);
    expect((await me.open(places.at(-1) ?? { uploadId: "" }, thumbnail)).size).toBe(3);
  });

  it("is shown where the owner has no bytes left to keep it", async () => {
    const deriver = new FirstBytes();
    const { me, store, upload } = await start({ deriver, limits: { ownerBytes: 5 } });
    const place = await upload(1, 2, 3, 4);
    expect(await contentOf(await me.open(place, thumbnail))).toEqual([1, 2, 3]);
    expect(await store.forOwner("me").fileUsage()).toEqual({ bytes: 4 });
  });

  it("is none where nothing derives them", async () => {
    const { me, upload } = await start();
    await expect(me.open(await upload(1, 2), thumbnail)).rejects.toMatchObject(missing);
  });
});
