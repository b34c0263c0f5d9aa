import { usageError } from "../cli-error.js";
import type { MaybeTerminal } from "../terminal/style.js";

/** The way a verb that waits for a turn handles calls that need approval. */
export type ApproveMode = "never" | "ask" | "all";

export const approveModes: readonly ApproveMode[] = ["never", "ask", "all"];

/** Returns the mode that was chosen; without a choice, `ask` at a terminal and `never` elsewhere. */
export function approveMode(
  chosen: ApproveMode | undefined,
  streams: { readonly stdin: MaybeTerminal; readonly stderr: MaybeTerminal } = process,
): ApproveMode {
  // The prompt is on standard error, so that standard output can be piped.
  const hasTerminal = streams.stdin.isTTY === true && streams.stderr.isTTY === true;
  if (chosen === "ask" && !hasTerminal)
    throw usageError(
      "--approve ask needs a terminal, and there is none.",
      "Use --approve never or all, or answer with another client: `parley pending` lists open requests.",
    );
  return chosen ?? (hasTerminal ? "ask" : "never");
}
