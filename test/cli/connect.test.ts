import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ConnectionInfo, ModelsResponse } from "@parley/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Upstream } from "../page/upstream.js";
import { type ServerProcess, Workplace } from "./parley-process.js";
import { keys, Terminal } from "./terminal.js";

const key = "sk-planted-4141424242";
let provider: Upstream;
let place: Workplace;
let server: ServerProcess;

beforeAll(async () => {
  provider = await Upstream.start(() => [{ text: "A real answer." }], {
    key,
    models: [{ id: "example", context_length: 64_000 }, { id: "other" }],
  });
  // No credential at all: the demo model is used.
  place = new Workplace({ store: { folder: ".parley", durable: false } });
  server = await place.serve();
}, 120_000);
afterAll(async () => {
  await server.end();
  await place.remove();
  provider.end();
});

const connect = (...args: readonly string[]) => ["connect", ...args];
const compatible = () => connect("compatible", "--name", "mine", "--address", provider.url);

describe("parley connect", { timeout: 60_000 }, () => {
  it("says why a provider refuses, without the key, and stores nothing", async () => {
    const env = { WRONG: "sk-wrong-9999" };
    const { code, stdout, stderr } = await place.parley([...compatible(), "--key-from-env", "WRONG"], {
      env,
    });
    expect(code).toBe(1);
    expect(stderr).toContain("he key was refused (401)");
    expect(stdout + stderr).not.toContain("sk-wrong-9999");
    expect(await place.ok(["models"])).toMatch(/^demo\/demo/m);
    expect(await place.json<ConnectionInfo[]>(...connect("ls"))).toMatchObject([
      { name: "demo", source: "built-in" },
    ]);
  });

  it("makes the models of a provider answer at once, and by default", async () => {
    const added = await place.ok([...compatible(), "--key-from-stdin"], { input: `${key}\n` });
    expect(added).toContain("mine/example (64k)");
    expect(await place.ok(["run", "Hello"])).toContain("A real answer.");
    const models = await place.json<ModelsResponse>("models");
    expect(models).toMatchObject({ models: ["mine/example", "mine/other"], defaultModel: "mine/example" });
    expect(models.modelInfo["mine/example"]?.contextWindow).toBe(64_000);
    expect(await place.ok(["tools"])).not.toContain("demo_");
    expect(await place.ok(connect("test", "mine"))).toContain("lists 2 models");
  });

  it("asks at a terminal for what is missing, and shows nothing of the key", async () => {
    const terminal = new Terminal(place, connect("compatible", "--name", "typed"), { cols: 100, rows: 30 });
    try {
      await terminal.see("Address (http://127.0.0.1:11434/v1):");
      terminal.type(`${provider.url}${keys.enter}`);
      await terminal.see("API key (empty for none):");
      terminal.type(`${key}${keys.enter}`);
      await terminal.see("Connected: typed, with 2 models.");
      expect(terminal.raw()).not.toContain(key);
    } finally {
      terminal.close();
    }
    await place.ok(connect("rm", "typed"));
  });

  it("renames: the old name is unavailable for the conversations that used it", async () => {
    await place.ok(connect("rename", "mine", "renamed"));
    const { code, stderr } = await place.parley(["run", "-c", "Again"]);
    expect(code).toBe(1);
    expect(stderr).toContain('"mine/example" is not configured');
    expect(await place.ok(["run", "-c", "-m", "renamed/other", "Again"])).toContain("A real answer.");
  });

  it("survives a restart, and the doctor reads its key", async () => {
    await server.end();
    server = await place.serve();
    expect(await place.ok(["run", "-c", "Once more"])).toContain("A real answer.");
    expect((await place.parley(["doctor", "--no-providers"])).stdout).toMatch(
      /secrets +Secrets: 1, encrypted with the key from the key file/,
    );
  });

  it("keeps the key out of the store, the logs, answers and exports", async () => {
    const { stdout, stderr } = server.output();
    const exported = await place.ok(["export", "@"]);
    const listed = await place.ok([...connect("ls"), "--json"]);
    expect(stdout + stderr + exported + listed).not.toContain(key);
    await server.end();
    expect(statSync(join(place.store, "secret.key")).mode & 0o777).toBe(0o600);
    // `grep` exits with 1 if no file contains the key.
    expect(() => execFileSync("grep", ["-rlaF", key, place.folder], { encoding: "utf8" })).toThrow();
    server = await place.serve();
  });

  it("gives way to the configuration, and says so", async () => {
    await server.end();
    place.write("parley.config.json", {
      store: { folder: ".parley", durable: false },
      models: { renamed: { kind: "demo", pace: "instant" } },
    });
    server = await place.serve();
    expect(await place.json<ConnectionInfo[]>(...connect("ls"))).toMatchObject([
      { name: "renamed", kind: "demo", source: "file" },
      { name: "renamed", source: "stored", problem: expect.stringContaining("which wins") as unknown },
    ]);
    for (const args of [connect("rm", "renamed"), connect("rename", "renamed", "another")]) {
      const { code, stderr } = await place.parley(args);
      expect(code).toBe(1);
      expect(stderr).toMatch(/"renamed" is set in the configuration .*parley\.config\.json, which wins/);
    }
    await server.end();
    place.write("parley.config.json", { store: { folder: ".parley", durable: false } });
    server = await place.serve();
  });

  it("removes: the next turn fails and says why, and the demo model is back", async () => {
    await place.ok(connect("rm", "renamed"));
    const { code, stderr } = await place.parley(["run", "-c", "Hello?"]);
    expect(code).toBe(1);
    expect(stderr).toContain("is not configured");
    expect(await place.ok(["models"])).toMatch(/^demo\/demo/m);
    expect((await place.parley(connect("rm", "renamed"))).stderr).toContain(
      'There is no connection "renamed"',
    );
  });
});
