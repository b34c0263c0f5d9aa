import type { Environment } from "./config/config.js";

/**
 * Returns the words that call this program again where it was called: the ones that a starting script gives in
 * `PARLEY_COMMAND`, those of npx, or those for a package script; else its name.
 */
export function calledAs(env: Environment = process.env): string {
  if (env.PARLEY_COMMAND !== undefined && env.PARLEY_COMMAND !== "") return env.PARLEY_COMMAND;
  if (env.npm_command === "exec") return "npx @parley/cli";
  return env.npm_lifecycle_event === undefined ? "parley" : "npx parley";
}

/** Replaces `parley` in the commands of a text, which stand between backticks, by what calls it here. */
export function asCalled(text: string, env: Environment = process.env): string {
  return text.replace(/`parley (?=[a-z])/g, () => `\`${calledAs(env)} `);
}
