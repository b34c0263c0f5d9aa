import { setTimeout as sleep } from "node:timers/promises";
import { createScriptedProvider, delay, reasoning, text, toolCall, usage } from "@parley/testing";

/**
 * Creates a model that acts by the first word of a message: `quick` answers at once, `tools` calls some, `slow` takes
 * its time. It remembers nothing of its calls.
 */
export function createModel() {
  const answerWith = (params) => createScriptedProvider(() => scriptFor(params.messages));
  return {
    complete: (params) => answerWith(params).complete(params),
    completeStream: (params) => answerWith(params).completeStream(params),
  };
}

function scriptFor(messages) {
  const last = messages.at(-1);
  if (last?.role === "tool") return [text("The tools have answered. ", { size: 8 }), usage(60, 8)];
  const [part] = last?.content ?? [];
  const word = part?.type === "text" ? part.text.split(" ", 1)[0] : "";
  const said = text("A sentence that comes in pieces, as an answer does. ".repeat(4), { size: 12 });
  if (word === "tools") {
    return [
      reasoning("Which ones?", { size: 4 }),
      toolCall("look", { at: "this" }),
      toolCall("wait", { ms: 15 }),
      usage(40, 12),
    ];
  }
  if (word !== "slow") return [said, usage(20, 40)];
  return [
    ...Array.from({ length: 40 }, (_, index) => [text(`piece ${index} `), delay(10)]).flat(),
    usage(20, 40),
  ];
}

export const tools = [
  { name: "look", description: "Looks", recovery: "retry", execute: () => "It looks fine. ".repeat(20) },
  {
    name: "wait",
    description: "Waits",
    recovery: "retry",
    async execute({ ms }, { signal, output }) {
      output("waiting");
      await sleep(ms, undefined, { signal });
      return "done";
    },
  },
];
