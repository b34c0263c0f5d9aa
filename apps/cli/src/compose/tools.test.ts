import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Secrets } from "@parley/core/ports";
import { afterEach, describe, expect, it } from "vitest";
import { loadConfig } from "../config/load-config.js";
import { composeToolServers } from "./tools.js";

/** No server here wants a login, so there are no secrets. */
const needs = { identify: async () => "own", secrets: {} as Secrets };

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A configuration with a server that writes down which stores have started it, and does not speak. */
async function configured() {
  const folder = mkdtempSync(join(tmpdir(), "parley-tools-"));
  folders.push(folder);
  const file = join(folder, "called-by");
  const script = `require("fs").writeFileSync(${JSON.stringify(file)}, process.env.PARLEY_CALLED_BY ?? "none")`;
  const config = await loadConfig({
    flags: { store: join(folder, "store") },
    env: { HOME: folder },
    workingFolder: folder,
  });
  const mcpServers = { child: { command: process.execPath, args: ["-e", script] } };
  const read = () => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return "";
    }
  };
  return { config: { ...config, mcpServers }, read };
}

describe("servers of tools", () => {
  it("that are processes receive the ids of the stores that started them", async () => {
    const { config, read } = await configured();
    const source = await composeToolServers(config, { ...needs, env: { PARLEY_CALLED_BY: "first" } });
    await expect.poll(read).toBe("first,own");
    await source?.close();
  });

  it("are not started by a process that a node of the same store has started", async () => {
    const { config, read } = await configured();
    const env = { PARLEY_CALLED_BY: "first,own,other" };
    expect(await composeToolServers(config, { ...needs, env })).toBeUndefined();
    expect(read()).toBe("");
  });
});
