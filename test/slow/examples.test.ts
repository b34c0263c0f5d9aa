import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const folder = join(import.meta.dirname, "..", "..", "examples");
const run = promisify(execFile);

/** What each example prints, at the least. They use the built packages, as a reader of them would. */
const printed: Record<string, readonly string[]> = {
  "ai-sdk-chat.mjs": [
    "without a login: 401",
    "the answer ended: stop",
    "the history has what was streamed",
    "2 messages by a route of its own",
  ],
  "engine.mjs": ["[calls calculator]", '"value":84', "2 model calls, reason stop"],
  "mount-server.mjs": ["The application", "the turn ended: stop", "the log has what was streamed"],
  "resume.mjs": [
    "cut off after 20 frames",
    "sent again: the same turn",
    "the two parts are the whole answer",
  ],
  "terminal-chat.mjs": ["you: hello", "I am the demo model", "< calculator:", "tokens in context]"],
};

describe("the examples", () => {
  it("are all listed here", () => {
    const files = readdirSync(folder).filter((file) => file.endsWith(".mjs"));
    expect(files.sort()).toEqual(Object.keys(printed).sort());
  });

  it.each(Object.keys(printed))(
    "%s runs and prints what it promises",
    async (file) => {
      const store = mkdtempSync(join(tmpdir(), "parley-example-"));
      try {
        const env = { ...process.env, PARLEY_FOLDER: store };
        const running = run(process.execPath, [join(folder, file)], { timeout: 120_000, env });
        running.child.stdin?.end();
        const { stdout, stderr } = await running;
        expect(stderr).toBe("");
        for (const line of printed[file] ?? []) expect(stdout).toContain(line);
      } finally {
        rmSync(store, { recursive: true, force: true });
      }
    },
    120_000,
  );
});
