/** Author of a message. */
export type Role = "system" | "user" | "assistant" | "tool";

/**
 * Identifies a turn, one user-to-assistant cycle. Opaque. A `TurnId` can be used wherever a string is
 * expected; a plain string is not a `TurnId`. Events carry it as a plain string.
 */
export type TurnId = string & { readonly __brand: "TurnId" };

/**
 * Identifies a step, one model round trip within a turn. The runtime derives it from the turn id and the
 * step's 0-based index, so that it is the same live, in history and after recovery; treat it as opaque.
 *
 * All tool calls that the model made in one step, and their results, carry the same `StepId`, in events and
 * in stored chunks alike: equality is sufficient to show a parallel batch as one.
 */
export type StepId = string & { readonly __brand: "StepId" };
