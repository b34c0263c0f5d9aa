import { errandToolName } from "./compose.js";

/**
 * Creates the demo's tool that asks before each run, so that approvals can be tried. It only pretends to do
 * something.
 */
export function errand() {
  return {
    name: errandToolName,
    description: "Pretends to run an errand. Each call asks the user first.",
    recovery: "retry" as const,
    approval: () => ({ approval: "always" as const, reason: "You wanted to be asked first." }),
    schema: {
      type: "object",
      properties: { task: { type: "string", minLength: 1 } },
      required: ["task"],
      additionalProperties: false,
    },
    execute({ task }: { readonly task: string }) {
      return `done, in a manner of speaking: ${task}`;
    },
  };
}
