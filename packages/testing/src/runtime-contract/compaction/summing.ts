import type { ProviderCallParams } from "@parley/core/ports";
import { type Script, text } from "../../provider/script.js";
import type { TestNode, World } from "../world.js";

/** Returns true if a call requests a summary. */
export function isSummary({ messages }: ProviderCallParams): boolean {
  const [first] = messages;
  return first?.role === "system" && String(first.content[0]?.text).includes("memory of a conversation");
}

/** Returns the text of everything that a call was shown. */
export function shownTo(params: ProviderCallParams | undefined): string {
  return JSON.stringify(params?.messages ?? []);
}

/** Starts a node whose model answers questions and summarizes with different scripts. */
export function summing(
  world: World,
  scripts: { summary?: () => Script; answer?: (index: number) => Script },
  options: Parameters<World["node"]>[0] = {},
): Promise<TestNode> {
  let answers = 0;
  return world.node({
    ...options,
    script: (params) => {
      if (isSummary(params)) return scripts.summary?.() ?? [text("SUMMARY")];
      answers += 1;
      return scripts.answer?.(answers) ?? [text(`Answer ${answers}.`)];
    },
  });
}

/** Returns the calls for a summary, or the others. */
export const callsFor = (node: TestNode, kind: "summary" | "answer") =>
  node.provider.calls.filter(({ params }) => isSummary(params) === (kind === "summary"));
