import { describe, expect, it } from "vitest";
import type { Command } from "../app/commands/commands.js";
import { groupCommands } from "./shortcut-groups.js";

const command = (id: string, group: Command["group"], title = id): Command => ({
  id,
  title,
  group,
  run: () => {},
});

describe("groupCommands", () => {
  it("keeps a fixed order of groups, leaves out empty ones, and keeps the order within", () => {
    const groups = groupCommands([
      command("theme", "View"),
      command("new", "Conversation"),
      command("sidebar", "View"),
    ]);
    expect(groups.map(({ group, commands }) => [group, commands.map(({ id }) => id)])).toEqual([
      ["Conversation", ["new"]],
      ["View", ["theme", "sidebar"]],
    ]);
  });

  it("uses the newest of several commands with one id", () => {
    const [group] = groupCommands([
      command("stop", "Conversation", "Stop"),
      command("stop", "Conversation", "Stop the turn"),
    ]);
    expect(group?.commands.map(({ title }) => title)).toEqual(["Stop the turn"]);
  });
});
