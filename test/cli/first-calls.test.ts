import { once } from "node:events";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Workplace } from "./parley-process.js";

describe("the first calls of `parley`", { timeout: 60_000 }, () => {
  let place: Workplace;
  beforeAll(() => {
    place = new Workplace({}, { withStore: false });
  });
  afterAll(() => place.remove());

  it("models: lists what the configuration has, and makes no store", async () => {
    expect(await place.ok(["models"])).toMatch(/demo\/demo +16k/);
    expect(readdirSync(place.folder)).toEqual(["parley.config.json"]);
  });

  it("init: writes a file that is loaded as it is, and replaces none", async () => {
    const { stderr } = await place.parley(["init", "project"]);
    expect(stderr).toMatch(/Wrote project\/parley\.config\.mjs/);
    expect(await place.ok(["models", "--config", "project/parley.config.mjs"])).toContain("demo/demo");
    const again = await place.parley(["init", "project", "--json"]);
    expect(again.code).toBe(1);
    expect(again.stderr).toMatch(/There is a configuration file already: project\/parley\.config\.mjs/);
  });

  it("init --starter: makes a project of its own name, with the versions of this package", async () => {
    const { stderr } = await place.parley(["init", "--starter", "My Chat"]);
    expect(stderr).toContain("npm start");
    const version = (await place.ok(["--version"])).trim();
    const manifest = JSON.parse(place.read("My Chat/package.json"));
    expect(manifest).toMatchObject({ name: "my-chat", dependencies: { "@parley/client": version } });
    for (const file of [".gitignore", "index.html", "src/chat.tsx", "parley.config.mjs"])
      expect(place.has(`My Chat/${file}`), file).toBe(true);
    expect((await place.parley(["init", "--starter", "My Chat"])).stderr).toContain("is not empty");
  });
});

describe("a store that another process has for a moment", { timeout: 60_000 }, () => {
  let place: Workplace;
  beforeAll(async () => {
    // A private PostgreSQL is shared; only PGlite has one process at a time.
    place = new Workplace({ store: { folder: ".parley", engine: "pglite" } }, { withStore: false });
    await place.ok(["ls"]);
  });
  afterAll(() => place.remove());

  it("is waited for", async () => {
    const lock = join(place.store, "parley.lock");
    const holder = { nonce: "test", pid: process.pid, host: hostname(), since: new Date().toISOString() };
    writeFileSync(lock, JSON.stringify(holder));
    const call = place.start(["ls"]);
    let said = "";
    call.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes(`in use by process ${process.pid}; waiting for it`)) rmSync(lock, { force: true });
    });
    const [code] = (await once(call, "close")) as [number | null];
    expect(code, said).toBe(0);
    expect(existsSync(lock)).toBe(false);
  });
});
