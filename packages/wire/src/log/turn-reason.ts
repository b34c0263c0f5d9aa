/**
 * Reason why a turn ended.
 *
 * - `stop`: the model was done.
 * - `tool-calls`: it ended on tool calls that this runtime does not run.
 * - `length`: the output limit cut it.
 * - `content-filter`: the provider withheld it.
 * - `max-steps`: the turn reached its limit of steps.
 * - `aborted`: a user or client stopped it.
 * - `error`: it failed; an `error` event describes the failure.
 * - `interrupted`: its node was shut down or crashed.
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
