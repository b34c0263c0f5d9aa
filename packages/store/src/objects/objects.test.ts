import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pieceBytes } from "@parley/core/messages";
import type { LogStoreRoot } from "@parley/core/ports";
import { createMemoryLogStore, logStoreContract } from "@parley/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnPostgres, type TestDatabase } from "../../../../test/harness/postgres.js";
import { type S3Server, startS3Server } from "../../../../test/harness/s3-server.js";
import { openPostgres } from "../postgres/open-postgres.js";
import type { ObjectPlace } from "./object-place.js";
import { openS3, type S3Options } from "./s3.js";
import { withObjectPlace } from "./with-object-place.js";

let server: S3Server;
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.stop());

let places = 0;
/** Opens a separate part of the bucket. */
function newPlace(options: Partial<S3Options> = {}): ObjectPlace {
  places += 1;
  return openS3({ ...server.options, prefix: `test-${places}/`, ...options });
}

/** Lists the keys in a place, without the part that names their store. */
async function keysIn(place: ObjectPlace): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of place.list("")) keys.push(key.replace(/^[0-9a-f-]{36}\//, ""));
  return keys.sort();
}

const bytes = (length: number, seed = 1) => Uint8Array.from({ length }, (_, index) => (index * seed) % 251);

const longMs = 600_000;

/** Uploads a file whose pieces are written by this store. */
async function upload(root: LogStoreRoot, id: string, content: Uint8Array, unsentMs = longMs) {
  const store = root.forOwner("ada");
  await store.beginUpload({ id, stalledMs: longMs });
  for (let n = 0; n * pieceBytes < content.byteLength; n += 1) {
    const data = content.subarray(n * pieceBytes, (n + 1) * pieceBytes);
    await store.writePiece({ id, n, data, stalledMs: longMs, ownerBytes: 1e9 });
  }
  const hash = createHash("sha256").update(content).digest("hex");
  return store.finishUpload({ id, hash, name: "a", mediaType: "b/c", unsentMs });
}

describe("a bucket", () => {
  it("stores, reads by ranges, lists and removes", async () => {
    const place = newPlace();
    await place.put("1/0", bytes(1_000));
    expect(await place.get("1/0", 0, 1_000)).toEqual(bytes(1_000));
    expect(await place.get("1/0", 990, 100)).toEqual(bytes(1_000).slice(990));
    expect(await place.get("1/1", 0, 10)).toBeNull();
    await place.put("1/0", bytes(10, 3));
    expect(await place.get("1/0", 0, 1_000)).toEqual(bytes(10, 3));
    await Promise.all(Array.from({ length: 50 }, (_, n) => place.put(`2/${n}`, bytes(1))));
    expect(await keysIn(place)).toHaveLength(51);
    await place.remove("1/0");
    await place.remove("1/0");
    expect(await place.get("1/0", 0, 1)).toBeNull();
  });

  it("is listed page by page", async () => {
    const asked: URLSearchParams[] = [];
    const pages = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "", "http://s3");
      asked.push(searchParams);
      const isFirst = searchParams.get("continuation-token") === null;
      const rest = isFirst ? "<NextContinuationToken>a+b/=&#38;</NextContinuationToken>" : "";
      const key = isFirst ? "1/0" : "2/0";
      response.end(
        `<ListBucketResult><Contents><Key>parley/${key}</Key></Contents>${rest}</ListBucketResult>`,
      );
    });
    await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = pages.address() as AddressInfo;
      const place = openS3({ ...server.options, endpoint: `http://127.0.0.1:${port}` });
      expect(await keysIn(place)).toEqual(["1/0", "2/0"]);
      expect(asked.map((query) => query.get("continuation-token"))).toEqual([null, "a+b/=&"]);
    } finally {
      await new Promise((resolve) => pages.close(resolve));
    }
  });

  it("that refuses says why, and what to check", async () => {
    const wrongKey = newPlace({ secretAccessKey: "wrong" });
    await expect(wrongKey.put("1/0", bytes(1))).rejects.toMatchObject({
      code: "store_unavailable",
      retryable: false,
      message: expect.stringContaining("SignatureDoesNotMatch; check bucket") as unknown,
    });
    const noBucket = newPlace({ bucket: "other-bucket" });
    await expect(noBucket.put("1/0", bytes(1))).rejects.toThrow("NoSuchBucket");
    await expect(noBucket.get("1/0", 0, 1)).rejects.toThrow("NoSuchBucket");
    expect(() => newPlace({ bucket: "No Bucket" })).toThrow("bucket: is not a bucket's name");
    expect(() => newPlace({ endpoint: "here" })).toThrow("endpoint: is no http address");
    expect(() => newPlace({ prefix: "a b" })).toThrow("prefix:");
  });
});

describe("a store with its files in a bucket", () => {
  it("keeps no bytes itself, reads those from before, and removes objects with their files", async () => {
    let now = 1_000;
    const inner = createMemoryLogStore({ clock: { now: () => now } });
    const old = await upload(inner, "old", bytes(100, 7));
    const place = newPlace();
    const root = withObjectPlace(inner, place);
    const store = root.forOwner("ada");
    const content = bytes(pieceBytes + 5);
    const file = await upload(root, "new", content);
    expect(await keysIn(place)).toEqual([`${file.blob}/0`, `${file.blob}/1`]);
    expect(await inner.forOwner("ada").readBlob({ blob: file.blob, offset: 0, length: 1 })).toBe("elsewhere");
    expect(await store.readBlob({ blob: file.blob, offset: pieceBytes + 2, length: 100 })).toEqual(
      content.slice(pieceBytes + 2),
    );
    expect(await store.readBlob({ blob: file.blob, offset: pieceBytes + 5, length: 1 })).toBeNull();
    expect(await root.forOwner("bob").readBlob({ blob: file.blob, offset: 0, length: 1 })).toBeNull();
    expect(await store.readBlob({ blob: old.blob, offset: 0, length: 100 })).toEqual(bytes(100, 7));
    // The same bytes again leave objects that the next collection removes, and nothing of the first ones.
    const again = await upload(root, "again", content);
    expect(again.blob).toBe(file.blob);
    await root.collectBlobs(10);
    expect(await keysIn(place)).toEqual([`${file.blob}/0`, `${file.blob}/1`]);
    now += longMs;
    await root.collectBlobs(10);
    expect(await keysIn(place)).toEqual([]);
    expect(await root.removedBlobs(10)).toEqual([]);
    expect(await store.fileUsage()).toEqual({ bytes: 0 });
  });

  it("leaves the objects of a removed file to the next collection where the bucket fails", async () => {
    let now = 1_000;
    const place = newPlace();
    let isDown = false;
    const root = withObjectPlace(createMemoryLogStore({ clock: { now: () => now } }), {
      ...place,
      remove: (key) => (isDown ? Promise.reject(new Error("down")) : place.remove(key)),
    });
    await upload(root, "a", bytes(10));
    now += longMs;
    isDown = true;
    await expect(root.collectBlobs(10)).rejects.toThrow("down");
    expect(await root.forOwner("ada").findUpload("a")).toBeNull();
    const later = await upload(root, "b", bytes(10));
    isDown = false;
    await root.collectBlobs(10);
    // Uploaded again meanwhile: the objects of the first one are gone, those of the second one are not.
    expect(await keysIn(place)).toEqual([`${later.blob}/0`]);
    expect(await root.forOwner("ada").readBlob({ blob: later.blob, offset: 0, length: 10 })).toEqual(
      bytes(10),
    );
  });

  it("has objects of no file found and removed by the doctor", async () => {
    const place = newPlace();
    const root = withObjectPlace(createMemoryLogStore({ clock: { now: () => 1_000 } }), place);
    const file = await upload(root, "a", bytes(10));
    const { blob } = file;
    const other = withObjectPlace(createMemoryLogStore({ clock: { now: () => 1_000 } }), place);
    expect(await upload(other, "a", bytes(20))).toMatchObject({ blob });
    expect(await root.forOwner("ada").readBlob({ blob, offset: 0, length: 10 })).toEqual(bytes(10));
    await place.put(`${await root.identity("")}/987654/0`, bytes(3));
    const find = async (fix: boolean) =>
      (await root.examine({ fix })).filter(({ message }) => message.toLowerCase().includes("objects"));
    expect(await find(false)).toMatchObject([{ level: "warning", fixable: true }]);
    expect(await find(true)).toMatchObject([{ fixed: true }]);
    expect(await find(false)).toMatchObject([{ level: "ok" }]);
    // The other store has its own, under the same number.
    expect(await keysIn(place)).toEqual([`${blob}/0`, `${blob}/0`]);
    const away = withObjectPlace(
      createMemoryLogStore({ clock: { now: () => 1_000 } }),
      newPlace({ bucket: "other-bucket" }),
    );
    expect(await away.examine({ fix: false })).toContainEqual(
      expect.objectContaining({
        level: "error",
        message: expect.stringContaining("NoSuchBucket") as unknown,
      }),
    );
  });
});

describe("the memory store with its files in a bucket keeps the contract:", () => {
  let now = 1_700_000_000_000;
  let root: LogStoreRoot | undefined;
  const cases = logStoreContract(() => {
    root ??= withObjectPlace(createMemoryLogStore({ clock: { now: () => now } }), newPlace());
    return {
      root,
      advance(ms) {
        now += ms;
      },
    };
  });
  for (const { name, run } of cases.filter((each) => each.name.startsWith("file:"))) it(name, run);
});

describeOnPostgres(
  "PostgreSQL with its files in a bucket",
  (postgres) => {
    let database: TestDatabase;
    let root: LogStoreRoot;
    beforeAll(async () => {
      database = await postgres.createDatabase();
      root = withObjectPlace(openPostgres({ url: database.url, listenUrl: false }).store, newPlace());
      await root.migrate();
    });
    afterAll(async () => {
      await root.close();
      await database.drop();
    });
    const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const cases = logStoreContract(() => ({ root, advance: wait }));
    for (const { name, run } of cases.filter((each) => each.name.startsWith("file:")))
      it(`keeps ${name}`, run);

    it("forgets what it has removed, and finds which bytes it has", async () => {
      const file = await upload(root, crypto.randomUUID(), bytes(2 * pieceBytes, 13), 0);
      expect(await root.existingBlobs([file.blob, file.blob + 1_000])).toEqual([file.blob]);
      await root.collectBlobs(1_000);
      expect(await root.existingBlobs([file.blob])).toEqual([]);
      expect(await root.removedBlobs(10)).toEqual([]);
    });
  },
  "preferred",
);
