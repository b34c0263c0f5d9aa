import type { Tool, ToolLogins, ToolSource } from "@parley/core/turn";
import { describe, expect, it } from "vitest";
import { withDemoTools } from "./demo-tools.js";

const tool = (name: string): Tool<never> => ({ name, execute: () => "done" });

describe("tools of the demo model", () => {
  it("stand beside those of servers, each owner's own, and take no login away", async () => {
    const lists = { ann: [tool("tracker__a")], bob: [tool("tracker__b")] };
    const readied: string[] = [];
    const logins = {} as ToolLogins;
    const servers: ToolSource = {
      tools: (owner) => lists[owner as "ann" | "bob"],
      servers: (owner) => [{ name: owner ?? "all", transport: "http", state: "ready", tools: 1 }],
      ready: async (owner) => void readied.push(owner),
      logins,
      close: async () => {},
    };
    let isDemoOnly = true;
    const source = await withDemoTools(servers, { credentials: new Map() }, () => isDemoOnly);
    const names = (owner: string) => source?.tools(owner).map(({ name }) => name);
    expect(names("ann")).toEqual(["demo_slow_task", "demo_errand", "ask_user", "tracker__a"]);
    expect(names("bob")).toEqual(["demo_slow_task", "demo_errand", "ask_user", "tracker__b"]);
    expect(source?.tools("ann")).toBe(source?.tools("ann"));
    await source?.ready?.("ann", new AbortController().signal);
    expect([readied, source?.logins, source?.servers("ann")[0]?.name]).toEqual([["ann"], logins, "ann"]);
    isDemoOnly = false;
    expect(names("ann")).toEqual(["tracker__a"]);
  });
});
