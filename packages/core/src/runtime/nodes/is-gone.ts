import { isParleyError } from "../../errors.js";

/** Whether a turn's write was refused for good: its lease is another's, or there is nothing to hold any more. */
export function isGone(error: unknown): boolean {
  return isParleyError(error) && (error.code === "stale_fence" || error.code === "conversation_not_found");
}
