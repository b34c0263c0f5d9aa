import { isParleyError } from "../../errors.js";

/**
 * Returns true if a turn's write was refused permanently: another node holds its lease, or there is nothing to hold
 * any more.
 */
export function isGone(error: unknown): boolean {
  return isParleyError(error) && (error.code === "stale_fence" || error.code === "conversation_not_found");
}
