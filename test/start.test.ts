import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "@parley/client";
import { describe, expect, it } from "vitest";
import { slowDemo, Workplace } from "./cli/parley-process.js";

const root = join(import.meta.dirname, "..");
const run = promisify(execFile);

/** Resolves when the process is gone. It is no child of this process, so its end is not reported. */
async function gone(pid: number): Promise<void> {
  await expect
    .poll(
      () => {
        try {
          return process.kill(pid, 0);
        } catch {
          return false;
        }
      },
      { timeout: 60_000, interval: 100 },
    )
    .toBe(false);
}

describe("a clone", () => {
  it("has the command that `npm start` names, and its advice names the same", async () => {
    const { stdout } = await run("npm", ["run", "--silent", "parley", "--", "--version"], { cwd: root });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const refused = await run(
      "npm",
      ["run", "--silent", "parley", "--", "ls", "--url", "http://127.0.0.1:1"],
      {
        cwd: root,
      },
    ).catch((error: { stderr: string }) => error);
    expect(refused.stderr).toContain("`npm run parley -- serve` starts it");
  }, 120_000);

  it("drains its server when npm is asked to end in the middle of a turn", async () => {
    const place = new Workplace(slowDemo);
    const config = join(place.folder, "parley.config.json");
    const args = ["start", "--", "--port", "0", "--store", place.store, "--config", config];
    const npm = spawn("npm", args, { cwd: root, env: { ...process.env, ...place.env }, stdio: "pipe" });
    let [output, listening] = ["", ""];
    const collect = (text: string) => {
      output += text;
      listening ||= /^\{.*"msg":"listening"\}$/m.exec(output)?.[0] ?? "";
    };
    npm.stdout.setEncoding("utf8").on("data", collect);
    npm.stderr.setEncoding("utf8").on("data", collect);
    const closed = once(npm, "close");
    try {
      while (listening === "") await once(npm.stdout, "data");
      const { url, pid } = JSON.parse(listening) as { url: string; pid: number };
      for await (const event of createClient({ url }).chat({ message: "use the slow tool" })) {
        if (event.type === "tool-output") break;
      }
      npm.kill("SIGTERM");
      await gone(pid);
      await closed;
      expect(output).toContain("letting the running turns finish their step");
      expect(output).toContain("What was acknowledged is kept");
      expect(place.has(".parley/server.json")).toBe(false);
    } finally {
      npm.kill("SIGKILL");
      place.remove();
    }
  }, 120_000);
});
