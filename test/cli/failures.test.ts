import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Ended, type ServerProcess, Workplace } from "./parley-process.js";

/** Expects one clear message: no stack, and this exit code. */
function expectClear(ended: Ended, code: number, ...parts: readonly (string | RegExp)[]): void {
  expect(ended.code, ended.stderr).toBe(code);
  expect(ended.stdout).toBe("");
  for (const part of parts) expect(ended.stderr).toMatch(part);
  expect(ended.stderr).not.toMatch(/^\s+at /m);
}

describe("a call with invalid arguments", { timeout: 60_000 }, () => {
  let place: Workplace;
  beforeAll(() => {
    place = new Workplace(undefined, { withStore: false });
  });
  afterAll(() => place.remove());

  it("says what was meant, and ends with 2", async () => {
    expectClear(await place.parley(["shwo"]), 2, "unknown command 'shwo'", "Did you mean show?");
    expectClear(await place.parley(["ls", "--jsn"]), 2, "unknown option '--jsn'", "Did you mean --json?");
    expectClear(await place.parley(["ls", "-n", "many"]), 2, "A whole number from 1 on is expected");
    expectClear(await place.parley(["--nosuch"]), 2, "unknown option '--nosuch'");
    expectClear(await place.parley(["run"]), 2, "The prompt is empty");
    expectClear(await place.parley(["search", ""]), 2, "The search is empty");
    expectClear(await place.parley(["rename", "@", " "]), 2, "The title is empty");
    expectClear(
      await place.parley(["--url", "nonsense", "ls"]),
      2,
      '"nonsense" is not the address of a server',
    );
  });

  it("shows help with examples, without opening anything", async () => {
    const help = await place.ok(["run", "--help"]);
    expect(help).toMatch(/Examples:[\s\S]*git diff \| parley run/);
    for (const flag of ["--url", "--store", "--owner", "--config", "--quiet"]) expect(help).toContain(flag);
    expect(await place.ok([])).toContain("Exit codes: 0 done; 1 failed; 2");
    expect(place.has(".parley")).toBe(false);
  });

  it("prints completion for each shell, made from the program itself", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = await place.ok(["completion", shell]);
      for (const word of ["compact", "--cascade", "resume", "markdown"])
        expect(script.replaceAll("-l ", "--")).toContain(word);
    }
  });
});

describe("a bad configuration", { timeout: 60_000 }, () => {
  const withConfig = (name: string, text: string) => {
    const place = new Workplace({}, { withStore: false });
    writeFileSync(join(place.folder, name), text);
    onTestFinished(() => place.remove());
    return place;
  };

  it("is reported by line in JSON, for every verb that needs it", async () => {
    const place = withConfig("parley.config.json", '{\n  "listen": { "port": "http" },\n  "model": {}\n}');
    for (const args of [["serve"], ["ls"], ["run", "hello"]]) {
      expectClear(
        await place.parley(args),
        1,
        /parley\.config\.json:2: listen\.port: expected a number/,
        /parley\.config\.json:3: model: is not a setting; did you mean "models"\?/,
      );
    }
    expect(place.has(".parley")).toBe(false);
  });

  it("never repeats a secret", async () => {
    const place = withConfig(
      "bad.mjs",
      'export default { models: { openai: { kind: "openai", apiKey: "sk-very-secret", models: "sk-very-secret" } } };',
    );
    const ended = await place.parley(["ls", "--config", "bad.mjs"]);
    expectClear(ended, 1, /models\.openai\.models: expected a list/);
    expect(ended.stderr).not.toContain("sk-very-secret");
  });

  it("names a default model that does not exist, and the one that was meant", async () => {
    const place = withConfig(
      "parley.config.json",
      '{ "defaultModel": "demo/dmo", "models": { "demo": { "kind": "demo" } } }',
    );
    expectClear(
      await place.parley(["ls"]),
      1,
      /defaultModel: there is no model "demo\/dmo"/,
      /Did you mean "demo\/demo"/,
    );
  });
});

describe("a store that cannot be used", { timeout: 60_000 }, () => {
  let place: Workplace;
  beforeAll(() => {
    place = new Workplace();
  });
  afterAll(() => place.remove());

  it("says that a folder cannot be written", async () => {
    writeFileSync(join(place.folder, "a-file"), "");
    expectClear(await place.parley(["ls", "--store", "a-file"]), 1, /It exists already|not a folder/);
    // Root may write everywhere, so nothing is refused.
    if (process.getuid?.() === 0) return;
    const folder = join(place.folder, "locked");
    mkdirSync(folder);
    chmodSync(folder, 0o500);
    expectClear(await place.parley(["ls", "--store", "locked/store"]), 1, /Permission denied/);
  });

  it("says that a PostgreSQL server cannot be reached, without its password", async () => {
    const ended = await place.parley(["ls", "--store", "postgres://me:very-secret@127.0.0.1:1/parley"]);
    expectClear(ended, 1, /server at 127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/, /Check/);
    expect(ended.stderr).not.toMatch(/very-secret|\bme\b/);
  });
});

describe("a full disk", { timeout: 240_000 }, () => {
  // Only root, and not everywhere, may mount a disk so small that it can be filled.
  const canMount = spawnSync("bash", ["-c", "unshare -m mount -t tmpfs tmpfs /mnt"]).status === 0;

  it.runIf(canMount)("is reported as full, and nothing that was acknowledged is lost", async () => {
    const place = new Workplace();
    onTestFinished(() => place.remove());
    mkdirSync(join(place.folder, "disk"));
    const ended = await shell(
      place,
      `mount -t tmpfs -o size=160m tmpfs disk && cp -r .parley disk/store && export PARLEY_STORE=$PWD/disk/store
      parley run -q "What is 6 * 7?"
      cat /dev/zero > disk/fill 2> /dev/null
      parley run -q "What is 2 ^ 10?"; echo "ended with $?"
      rm disk/fill; until parley show @ 2> /dev/null; do true; done`,
      ["unshare", "-m"],
    );
    expect(ended.stderr).toMatch(/^parley: The disk is full/);
    expect(ended.stdout).toMatch(
      /6 × 7 = 42[\s\S]*ended with 1\n[\s\S]*› What is 6 \* 7\?[\s\S]*"value":42[\s\S]*6 × 7 = 42/,
    );
  });
});

describe("a server that does not do as it should", { timeout: 60_000 }, () => {
  let place: Workplace;
  let server: ServerProcess;
  beforeAll(async () => {
    place = new Workplace();
    server = await place.serve();
  }, 60_000);
  afterAll(() => place.remove());

  it("is reported as unreachable when nothing listens there", async () => {
    expectClear(await place.parley(["ls", "--url", "http://127.0.0.1:1"]), 1, /Is the server running\?/);
  });

  it("is distinguished from another server", async () => {
    const other = createServer((_request, response) => response.end("<html>hello</html>"));
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      other.close();
      other.closeAllConnections();
    });
    const { port } = other.address() as AddressInfo;
    const ended = await place.parley(["ls", "--url", `http://127.0.0.1:${port}`]);
    expect(ended.code).toBe(1);
    expect(ended.stderr).not.toMatch(/^\s+at /m);
  });

  it("refuses a wrong key with what to do, and the key is not repeated", async () => {
    const secret = (await place.ok(["keys", "create"])).trim();
    const wrong = `pk_${"x".repeat(43)}`;
    const ended = await place.parley(["ls"], { env: { PARLEY_API_KEY: wrong } });
    expectClear(ended, 1, /not known, or was revoked/, /PARLEY_API_KEY/);
    expect(ended.stderr).not.toContain(wrong);
    expect((await place.parley(["ls"], { env: { PARLEY_API_KEY: secret } })).code).toBe(0);
    await place.ok(["keys", "rm", "key_"], { env: { PARLEY_API_KEY: secret } });
  });

  it("is not started twice on one store", async () => {
    expectClear(
      await place.parley(["serve", "--port", "0"]),
      1,
      new RegExp(`already running on .*${server.port}`),
    );
  });

  it("refuses to be reachable from other machines without a key", async () => {
    const other = new Workplace();
    onTestFinished(() => other.remove());
    expectClear(
      await other.parley(["serve", "--host", "0.0.0.0", "--port", "0"]),
      1,
      /no API key yet/,
      /parley keys create/,
    );
    expectClear(await other.parley(["serve", "--port", String(server.port)]), 1, /is taken|in use/);
  });

  it("keeps a reader's or a disk's end from becoming a stack", async () => {
    const { conversationId } = await place.json<{ conversationId: string }>("run", "a long answer please");
    const full = await shell(place, `parley export ${conversationId} > /dev/full`);
    expect(full).toMatchObject({ code: 1, stderr: expect.stringMatching(/disk is full/) as unknown });
    const file = await shell(place, `parley export ${conversationId} -o /dev/full/talk.jsonl`);
    expect(file.code).toBe(1);
    const head = await shell(place, `parley export ${conversationId} | head -c 10`);
    expect(head).toMatchObject({ code: 0, stderr: "" });
  });
});

/** Runs a line of a shell in which `parley` is a command. */
async function shell(place: Workplace, line: string, before: readonly string[] = []): Promise<Ended> {
  const [node, [main = ""]] = place.command();
  const [command = "", ...args] = [
    ...before,
    "bash",
    "-c",
    `parley() { "${node}" "${main}" "$@"; }\n${line}`,
  ];
  // A process group of its own, so that nothing of it outlives a test that gave up.
  const child = spawn(command, args, { cwd: place.folder, env: place.env, detached: true });
  onTestFinished(() => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended, as it should.
    }
  });
  child.stdin.end();
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (text: Buffer) => {
    stdout += text.toString();
  });
  child.stderr.on("data", (text: Buffer) => {
    stderr += text.toString();
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}
