import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isParleyError } from "@parley/core/errors";
import type { SecretStore } from "@parley/core/ports";
import { createMemoryLogStore } from "@parley/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { keyFileOf } from "./key-file.js";
import { openSecrets } from "./open-secrets.js";

const secret = "a text of the installation, long enough";
const name = { owner: "me", kind: "token", name: "server" };
const refused = (reason: string) => ({ code: "store_unavailable", retryable: false, details: { reason } });

function memory(): SecretStore {
  return createMemoryLogStore({ clock: Date }).secrets;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("a secret", () => {
  it("is read as it was put, by every node with the same text, and is nowhere in the store", async () => {
    const store = memory();
    const value = JSON.stringify({ access: "planted-secret-value", emoji: "\u{1f511}" });
    const version = await openSecrets(store, { secret }).put({
      ...name,
      value,
      facts: { n: 1 },
      replaces: null,
    });
    expect(await openSecrets(store, { secret }).get(name)).toMatchObject({
      ...name,
      value,
      version,
      facts: { n: 1 },
    });
    expect(JSON.stringify(await store.page({ limit: 10 }))).not.toContain("planted");
    expect(await openSecrets(store, { secret }).list(name)).toEqual([
      expect.not.objectContaining({ sealed: expect.anything() as unknown }),
    ]);
  });

  it("is encrypted differently each time, even if the value is the same", async () => {
    const store = memory();
    const secrets = openSecrets(store, { secret });
    await secrets.put({ ...name, value: "same", replaces: null });
    await secrets.put({ ...name, name: "other", value: "same", replaces: null });
    const [one, two] = (await store.page({ limit: 2 })).map(({ sealed }) =>
      sealed.split(".")[2]?.slice(0, 16),
    );
    expect(one).not.toBe(two);
  });

  it.each([
    ["another owner", { ...name, owner: "somebody else" }],
    ["the installation", { kind: name.kind, name: name.name }],
    ["another kind", { ...name, kind: "provider" }],
    ["another name", { ...name, name: "another" }],
  ])("copied to %s does not open, and the error names it", async (_, to) => {
    const store = memory();
    const secrets = openSecrets(store, { secret });
    await secrets.put({ ...name, value: "planted", replaces: null });
    const { sealed = "" } = (await store.get(name)) ?? {};
    await store.put({ ...to, sealed, facts: {}, replaces: null });
    await expect(secrets.get(to)).rejects.toMatchObject({
      ...refused("secret_unreadable"),
      details: { reason: "secret_unreadable", ...to },
      message: expect.stringContaining(`${to.kind} "${to.name}"`) as unknown,
    });
    expect((await secrets.get(name))?.value).toBe("planted");
  });

  it("that was changed in any place of its stored form does not open", async () => {
    const store = memory();
    const secrets = openSecrets(store, { secret });
    await secrets.put({ ...name, value: "planted", replaces: null });
    const { sealed = "", version = "" } = (await store.get(name)) ?? {};
    let replaces = version;
    for (let place = 0; place < sealed.length; place += 1) {
      const other = sealed[place] === "a" ? "b" : "a";
      const changed = sealed.slice(0, place) + other + sealed.slice(place + 1);
      replaces = (await store.put({ ...name, sealed: changed, facts: {}, replaces })) ?? "";
      const read = await secrets.get(name).catch((error: unknown) => error);
      expect(isParleyError(read) && read.details?.reason).toBe("secret_unreadable");
    }
  });

  it("keeps its value when it is renamed", async () => {
    const secrets = openSecrets(memory(), { secret });
    const replaces = await secrets.put({ ...name, value: "kept", replaces: null });
    await secrets.put({ ...name, value: "kept", replaces, newName: "renamed" });
    expect((await secrets.get({ ...name, name: "renamed" }))?.value).toBe("kept");
    expect(await secrets.get(name)).toBeNull();
  });

  it("that is too large is refused", async () => {
    const secrets = openSecrets(memory(), { secret });
    const large = "x".repeat(65_537);
    await expect(secrets.put({ ...name, value: large, replaces: null })).rejects.toMatchObject({
      code: "too_large",
    });
    await expect(secrets.put({ ...name, value: "", facts: { large }, replaces: null })).rejects.toMatchObject(
      { code: "too_large" },
    );
  });
});

describe("the key of an installation", () => {
  it("is derived from a text of a sensible length", () => {
    for (const wrong of ["", "short", "x".repeat(1_025)]) {
      expect(() => openSecrets(memory(), { secret: wrong })).toThrow("PARLEY_SECRET");
      expect(() => openSecrets(memory(), { secret, previous: wrong })).toThrow("PARLEY_SECRET_PREVIOUS");
    }
  });

  it("that is missing is asked for by name, where something needs it", async () => {
    const store = memory();
    await openSecrets(store, { secret }).put({ ...name, value: "v", replaces: null });
    const secrets = openSecrets(store, {});
    await expect(secrets.put({ ...name, value: "v", replaces: null })).rejects.toMatchObject({
      ...refused("no_secret"),
      details: { reason: "no_secret", setting: "PARLEY_SECRET" },
      message: expect.stringContaining("PARLEY_SECRET") as unknown,
    });
    await expect(secrets.get(name)).rejects.toMatchObject({ details: { reason: "no_secret" } });
    expect(await secrets.get({ ...name, name: "unknown" })).toBeNull();
    expect(await secrets.list(name)).toHaveLength(1);
    expect(await secrets.remove(name)).toBe(true);
  });

  it("that was changed leaves others readable, and is accepted as the previous one", async () => {
    const store = memory();
    const newer = "another text, as long as it has to be";
    await openSecrets(store, { secret }).put({ ...name, value: "old", replaces: null });
    const changed = openSecrets(store, { secret: newer });
    await changed.put({ ...name, name: "new", value: "new", replaces: null });
    await expect(changed.get(name)).rejects.toMatchObject(refused("secret_unreadable"));
    expect((await changed.get({ ...name, name: "new" }))?.value).toBe("new");
    expect(await changed.examine()).toMatchObject({
      level: "error",
      message: '1 of 2 secrets cannot be read: token "server" of me',
    });

    const rotating = openSecrets(store, { secret: newer, previous: secret });
    expect((await rotating.get(name))?.value).toBe("old");
    expect(await rotating.examine()).toMatchObject({ level: "warning" });
    expect(await rotating.reseal()).toBe(1);
    expect(await rotating.reseal()).toBe(0);
    expect((await changed.get(name))?.value).toBe("old");
    expect(await changed.examine()).toMatchObject({
      level: "ok",
      message: expect.stringContaining("Secrets: 2") as unknown,
    });
  });

  it("is a file of the user alone beside an embedded store, made when it is needed first", async () => {
    const folder = newFolder();
    const store = memory();
    const secrets = openSecrets(store, { folder });
    expect(await secrets.get(name)).toBeNull();
    expect(await secrets.examine()).toMatchObject({ level: "ok" });
    expect(existsSync(keyFileOf(folder))).toBe(false);
    await secrets.put({ ...name, value: "kept", replaces: null });
    expect(statSync(keyFileOf(folder)).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["secret.key"]);
    expect((await openSecrets(store, { folder }).get(name))?.value).toBe("kept");
    rmSync(keyFileOf(folder));
    await expect(openSecrets(store, { folder }).get(name)).rejects.toMatchObject(
      refused("secret_unreadable"),
    );
    expect(existsSync(keyFileOf(folder))).toBe(false);
  });

  it("is one file however many processes make it at once", async () => {
    const folder = newFolder();
    const store = memory();
    const nodes = Array.from({ length: 8 }, () => openSecrets(store, { folder }));
    await Promise.all(
      nodes.map((node, index) => node.put({ ...name, name: `${index}`, value: "v", replaces: null })),
    );
    const read = await Promise.all(
      nodes.map((node, index) => node.get({ ...name, name: `${(index + 1) % 8}` })),
    );
    expect(read.map((each) => each?.value)).toEqual(Array(8).fill("v"));
    expect(readdirSync(folder)).toEqual(["secret.key"]);
  });

  it("is refused while other users can read its file, with the command that mends it", async () => {
    const folder = newFolder();
    const secrets = openSecrets(memory(), { folder });
    await secrets.put({ ...name, value: "v", replaces: null });
    const text = readFileSync(keyFileOf(folder), "utf8");
    chmodSync(keyFileOf(folder), 0o640);
    const again = openSecrets(memory(), { folder });
    const failure: unknown = await again
      .put({ ...name, value: "v", replaces: null })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      ...refused("key_file"),
      message: expect.stringContaining("chmod 600") as unknown,
    });
    expect(String(failure)).not.toContain(text.trim());
    expect(await again.examine()).toMatchObject({ level: "error" });
    chmodSync(keyFileOf(folder), 0o600);
    expect(await again.put({ ...name, value: "v", replaces: null })).not.toBeNull();
  });
});
