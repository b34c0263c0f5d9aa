import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { copyTree, type TreeCopy } from "../harness/tree-copy.js";

const eventFile = "packages/wire/src/log/agent-event.ts";
const tableFile = "packages/fold/src/event-traits.ts";
const foldFile = "packages/fold/src/apply-event.ts";

let tree: TreeCopy;
beforeAll(() => {
  tree = copyTree();
  const events = tree.read(eventFile);
  const planted = `${events.replace("  | TurnSteeringEvent\n", "  | TurnSteeringEvent\n  | PlantedEvent\n")}
/** A kind that nothing handles yet. */
export interface PlantedEvent {
  readonly type: "planted";
  readonly conversationId: string;
  readonly turnId: string;
  readonly text: string;
}
`;
  tree.plant(eventFile, planted);
});
afterAll(() => tree.remove());

/** Compiles a package of the copy and returns the files with errors. */
function compile(...packages: string[]): string[] {
  const { stdout } = spawnSync(process.execPath, ["node_modules/typescript/bin/tsc", "-b", ...packages], {
    cwd: tree.path,
    encoding: "utf8",
  });
  const files = [...stdout.matchAll(/^(\S+?)\(\d+,\d+\): error/gm)].map(([, file]) => file ?? "");
  return [...new Set(files)].sort();
}

describe("a new kind of event", { timeout: 120_000 }, () => {
  it("stops the build at the table of traits and at the fold", () => {
    expect(compile("packages/fold")).toEqual([foldFile, tableFile].sort());
  });

  it("needs nothing else in the runtime, the client and the command line", () => {
    const row =
      'planted: { durable: "journal", increment: false, once: () => "planted", observed: true, generated: false, inRows: false },';
    tree.plant(tableFile, tree.read(tableFile).replace('  "turn-sealed": {', `  ${row}\n  "turn-sealed": {`));
    const fold = `case "planted": {
      const { turnId, text } = event;
      const of = { id: \`\${turnId}:planted\`, role: "system" as const, turnId };
      return withWholePart(fold, of, 0, { type: "system", text });
    }
    case "tool-output":`;
    tree.plant(foldFile, tree.read(foldFile).replace('case "tool-output":', fold));
    expect(compile("packages/core", "packages/client")).toEqual([]);
    // The test kit states the order of events, and the compiler names that place.
    expect(compile("packages/testing")).toEqual(["packages/testing/src/event-order.ts"]);
    // The HTTP contract describes every event, and a face shows or leaves out each: the compiler names both places.
    expect(compile("packages/server")).toEqual([
      "packages/server/src/faces/ai-sdk-ui/project-turn.ts",
      "packages/server/src/schemas/agent-event.ts",
    ]);

    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", recoverPlanted], {
      cwd: tree.path,
      encoding: "utf8",
    });
    expect(stdout.trim(), stderr).toBe('system "Kept"');
  });
});

/** Recovers a turn whose journal holds one planted event, and prints the message that the seal would write. */
const recoverPlanted = `
import { foldLeftTurn, partialMessages } from "./packages/core/dist/runtime/nodes/recovery-plan.js";
const event = { type: "planted", conversationId: "c", turnId: "t", text: "Kept" };
const state = {
  turnId: "t", fence: 1, node: "n", choices: {}, startedAt: 0, stopRequested: false,
  inputs: [], entries: [], steps: [], providerCalls: [], journal: [],
};
const left = foldLeftTurn("c", state, [{ n: 0, event }]);
for (const { role, content } of partialMessages(left, { now: new Date(0) })) {
  console.log(role, JSON.stringify(content[0].text));
}
`;
