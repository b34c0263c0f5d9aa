import { hashText } from "@parley/core/messages";

/** Maps names of tools to names that an API accepts, and back. */
export interface ToolNames {
  /** Returns the name to send. The same name always gives the same result. */
  toSent(name: string): string;
  /** Returns the tool for a name in an answer. */
  fromSent(name: string): string;
}

const sendable = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Creates the mapping for these tools. Names that the APIs refuse (dots, slashes, more than 64 characters)
 * are rewritten so that they are accepted and stay distinct, and are mapped back in answers.
 */
export function createToolNames(names: Iterable<string>): ToolNames {
  const back = new Map<string, string>();
  for (const name of names) {
    const sent = sendableName(name);
    if (sent !== name) back.set(sent, name);
  }
  return {
    toSent: sendableName,
    fromSent: (name) => back.get(name) ?? name,
  };
}

function sendableName(name: string): string {
  if (sendable.test(name)) return name;
  const spelled = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 55);
  return `${spelled === "" ? "tool" : spelled}_${hashText(name).slice(0, 8)}`;
}
