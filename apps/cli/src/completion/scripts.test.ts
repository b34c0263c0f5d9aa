import { spawnSync } from "node:child_process";
import { Argument, Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { commandTree } from "./command-tree.js";
import { completionScript } from "./scripts.js";

function program(): Command {
  const root = new Command("parley").option("--url <url>", "where").helpCommand(false);
  root
    .command("show")
    .description("show it")
    .addArgument(new Argument("<conversation>"))
    .option("-n, --limit <count>")
    .option("-m, --model <name>");
  const queue = root.command("queue").description("what waits");
  queue.command("ls").description("list");
  queue
    .command("add")
    .description("it's new")
    .addOption(new Option("--mode <mode>").choices(["steer", "queue"]));
  root.command("secret", { hidden: true });
  return root;
}

/** Returns the completions that bash offers at the end of a line. */
function bash(line: string): string[] {
  const words = line.split(" ");
  const script = `
    parley() { case $1 in complete-models) echo demo/demo ;; *) echo conversation-1 ;; esac; }
    ${completionScript("bash", commandTree(program()))}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
    _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter((word) => word !== "");
}

describe("completion in bash", () => {
  it("offers the models of the running server", () => {
    expect(bash("parley show -m ")).toEqual(["demo/demo"]);
    expect(bash("parley show --model d")).toEqual(["demo/demo"]);
  });

  it("offers commands, their commands, options and the words that an option takes", () => {
    expect(bash("parley s")).toEqual(["show"]);
    expect(bash("parley queue ")).toEqual(expect.arrayContaining(["ls", "add"]));
    expect(bash("parley queue add --m")).toEqual(["--mode"]);
    expect(bash("parley queue add --mode s")).toEqual(["steer"]);
    expect(bash("parley show --l")).toEqual(["--limit"]);
  });

  it("offers ids where a conversation is named, and nothing that is hidden", () => {
    expect(bash("parley show conv")).toEqual(["conversation-1"]);
    expect(bash("parley sec")).toEqual([]);
  });
});

describe("completion in other shells", () => {
  it.each(["zsh", "fish"] as const)("names every command and option in %s, quoted", (shell) => {
    const script = completionScript(shell, commandTree(program()));
    for (const word of ["show", "queue", "add", "limit", "mode", "steer", "complete-ids"])
      expect(script).toContain(word);
    expect(script).not.toContain("secret");
    expect(script).toContain("it'\\''s new");
  });
});
