/**
 * Why a turn ended.
 *
 * - `stop`: the model was done.
 * - `tool-calls`: it ended on tool calls that nobody here runs.
 * - `length`: the output limit cut it.
 * - `content-filter`: the provider withheld it.
 * - `max-steps`: the turn reached its limit of steps.
 * - `aborted`: someone stopped it.
 * - `error`: it failed; an `error` event said how.
 * - `interrupted`: its node went away, by shutdown or crash.
 */
export type TurnReason =
  | "stop"
  | "tool-calls"
  | "length"
  | "content-filter"
  | "max-steps"
  | "aborted"
  | "error"
  | "interrupted";
