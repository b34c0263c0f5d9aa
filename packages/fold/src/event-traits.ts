import type { AgentEvent } from "@parley/wire";

/** The events that are numbered within a turn: all except those outside it, and live-only ones. */
export type TurnEvent = Exclude<
  AgentEvent,
  { type: "status" } | { type: "turn-sealed" } | { type: "turn-progress" }
>;

/** An event of a turn with its number. */
export interface NumberedEvent {
  readonly n: number;
  readonly event: TurnEvent;
}

/** The properties of an event kind that journal, delivery, recovery and hooks act on. */
export interface EventTraits<Event extends AgentEvent = AgentEvent> {
  /**
   * When a published event is durable. `journal`: it is published only after its journal flush, so recovery finds
   * it there. `commit`: it is published after the transaction that it reports. `no`: it is provisional, and a crash
   * may lose it.
   */
  readonly durable: "journal" | "commit" | "no";
  /**
   * True for one piece of a growing part: replay joins the pieces, and the journal stores their joined text.
   */
  readonly increment: boolean;
  /** Identifies an event that a turn publishes once; absent for increments, which are compared by their text. */
  readonly once?: (event: Event) => string;
  /** True if it is passed to the host's `onEvent` hook. */
  readonly observed: boolean;
  /**
   * True if the model produced it: a turn with such an event uncommitted cannot be continued by another node.
   */
  readonly generated: boolean;
  /**
   * True if the turn's rows contain it too. Where events are created from rows, a subscriber that receives
   * the rows is sent only the others.
   */
  readonly inRows: boolean;
}

type TraitsOf<Kind extends AgentEvent["type"]> = EventTraits<Extract<AgentEvent, { type: Kind }>>;

/**
 * The single table of event types. A new type needs a row here and a case in `applyEvent`; the compiler stops
 * at both, and everything else reads the row.
 */
export const eventTraits: { readonly [Kind in AgentEvent["type"]]: TraitsOf<Kind> } = {
  status: { durable: "commit", increment: false, observed: true, generated: false, inRows: false },
  "user-message": {
    durable: "commit",
    increment: false,
    once: () => "user-message",
    observed: true,
    generated: false,
    inRows: true,
  },
  "turn-start": {
    durable: "commit",
    increment: false,
    once: () => "turn-start",
    observed: true,
    generated: false,
    inRows: false,
  },
  "text-delta": { durable: "no", increment: true, observed: false, generated: true, inRows: true },
  "reasoning-delta": { durable: "no", increment: true, observed: false, generated: true, inRows: true },
  "tool-call": {
    durable: "no",
    increment: false,
    once: ({ stepId, toolCallId }) => `tool-call ${stepId} ${toolCallId}`,
    observed: true,
    generated: true,
    inRows: true,
  },
  usage: {
    durable: "no",
    increment: false,
    once: ({ stepId }) => `usage ${stepId}`,
    observed: true,
    generated: true,
    inRows: false,
  },
  "step-complete": {
    durable: "no",
    increment: false,
    once: ({ stepId }) => `step-complete ${stepId}`,
    observed: true,
    generated: true,
    inRows: false,
  },
  "tool-output": { durable: "no", increment: true, observed: false, generated: false, inRows: false },
  "tool-result": {
    durable: "journal",
    increment: false,
    once: ({ stepId, toolCallId }) => `tool-result ${stepId} ${toolCallId}`,
    observed: true,
    generated: false,
    inRows: true,
  },
  "input-request": {
    durable: "commit",
    increment: false,
    once: ({ input }) => `input-request ${input.requestId}`,
    observed: true,
    generated: false,
    inRows: true,
  },
  "input-response": {
    durable: "journal",
    increment: false,
    once: ({ input }) => `input-response ${input.requestId}`,
    observed: true,
    generated: false,
    inRows: true,
  },
  "output-invalid": {
    durable: "commit",
    increment: false,
    once: ({ messageId }) => `output-invalid ${messageId}`,
    observed: true,
    generated: false,
    inRows: true,
  },
  steering: {
    durable: "commit",
    increment: false,
    once: ({ messageIds }) => `steering ${messageIds?.join(" ")}`,
    observed: true,
    generated: false,
    inRows: true,
  },
  "turn-progress": { durable: "no", increment: false, observed: false, generated: false, inRows: false },
  error: {
    durable: "no",
    increment: false,
    once: () => "error",
    observed: true,
    generated: false,
    inRows: true,
  },
  done: {
    durable: "no",
    increment: false,
    once: () => "done",
    observed: true,
    generated: false,
    inRows: false,
  },
  "turn-sealed": {
    durable: "commit",
    increment: false,
    once: () => "turn-sealed",
    observed: true,
    generated: false,
    inRows: false,
  },
};

/** Returns the traits of an event. */
function traitsOf<Event extends AgentEvent>(event: Event): EventTraits<Event> {
  // Keyed by the event's own type: the compiler cannot follow that through a union.
  return eventTraits[event.type] as unknown as EventTraits<Event>;
}

/** Returns the key of an event that its turn publishes once; undefined for increments. */
export function onceKey(event: AgentEvent): string | undefined {
  return traitsOf(event).once?.(event);
}
