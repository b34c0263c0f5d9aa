import { hashText } from "@parley/core/messages";

/** Names of tools as an API takes them, and back. */
export interface ToolNames {
  /** The name that is sent. The same name always gives the same. */
  toSent(name: string): string;
  /** The tool that a name in an answer stands for. */
  fromSent(name: string): string;
}

const sendable = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * The names of these tools. Names that the APIs refuse (dots, slashes, more than 64 characters) are spelled so
 * that they pass and still can be told apart, and are turned back in answers.
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
