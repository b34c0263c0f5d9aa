import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { Workplace } from "../cli/parley-process.js";

const folder = join(import.meta.dirname, "..", "..", "examples");
const run = promisify(execFile);

/** Minimum output of each example. They use the built packages, as a reader of them would. */
const printed: Record<string, readonly string[]> = {
  "ai-sdk-chat.mjs": [
    "without a login: 401",
    "the answer ended: stop",
    "the history has what was streamed",
    "2 messages by a route of its own",
  ],
  "engine.mjs": ["[calls calculator]", "= 84", "2 model calls, reason stop"],
  "mount-server.mjs": ["The application", "the turn ended: stop", "the log has what was streamed"],
  "openai-sdk.mjs": ["Model: demo/demo", "mcp_call, reasoning, message", "Replayed", 'Data: {"city":"demo"}'],
  "resume.mjs": [
    "cut off after 20 frames",
    "sent again: the same turn",
    "the two parts are the whole answer",
  ],
  "terminal-chat.mjs": ["you: hello", "I am the demo model", "< calculator:", "tokens in context]"],
};

/** Those that call a server, which has to run. */
const withServer = new Set(["openai-sdk.mjs"]);

describe("the examples", () => {
  it("are all listed here", () => {
    const files = readdirSync(folder).filter((file) => file.endsWith(".mjs"));
    expect(files.sort()).toEqual(Object.keys(printed).sort());
  });

  it.each(Object.keys(printed))(
    "%s runs and prints what it promises",
    async (file) => {
      const store = mkdtempSync(join(tmpdir(), "parley-example-"));
      const place = withServer.has(file) ? new Workplace() : undefined;
      try {
        const server = await place?.serve();
        const env = { ...process.env, PARLEY_FOLDER: store, PARLEY_URL: server?.url };
        const running = run(process.execPath, [join(folder, file)], { timeout: 120_000, env });
        running.child.stdin?.end();
        const { stdout, stderr } = await running;
        expect(stderr).toBe("");
        for (const line of printed[file] ?? []) expect(stdout).toContain(line);
      } finally {
        await place?.remove();
        rmSync(store, { recursive: true, force: true });
      }
    },
    120_000,
  );
});
