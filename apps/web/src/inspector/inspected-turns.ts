import type { ConversationState, MessageState } from "@parley/client";
import type { TurnMetrics } from "@parley/wire";

/** A turn that can be looked at. */
export interface InspectedTurn {
  readonly turnId: string;
  /** From 1, in the order of the conversation. */
  readonly number: number;
  /** Present once it is sealed and its figures are loaded. */
  readonly metrics?: TurnMetrics;
  /** What the user asked, shortened, where the message is loaded. */
  readonly title?: string;
}

const titleLength = 80;

/**
 * The turns of a conversation, oldest first: those whose figures are stored, then those that are newer than that, as
 * the one that runs.
 */
export function inspectedTurns(
  stored: readonly TurnMetrics[],
  state: Pick<ConversationState, "messages" | "activeTurn">,
): readonly InspectedTurn[] {
  const titles = titlesOf(state.messages);
  const metricsOf = new Map(stored.map((metrics) => [metrics.turnId, metrics]));
  const ids = new Set(metricsOf.keys());
  for (const { turnId } of state.messages) if (turnId !== undefined) ids.add(turnId);
  if (state.activeTurn !== undefined) ids.add(state.activeTurn.turnId);
  return [...ids].map((turnId, index) => {
    const metrics = metricsOf.get(turnId);
    const title = titles.get(turnId);
    return {
      turnId,
      number: index + 1,
      ...(metrics === undefined ? {} : { metrics }),
      ...(title === undefined ? {} : { title }),
    };
  });
}

function titlesOf(messages: readonly MessageState[]): ReadonlyMap<string, string> {
  const titles = new Map<string, string>();
  for (const { turnId, role, parts } of messages) {
    if (turnId === undefined || role !== "user" || titles.has(turnId)) continue;
    const text = parts.map(({ chunk }) => (chunk.type === "text" ? chunk.text.slice(0, 400) : "")).join(" ");
    const line = text.replace(/\s+/g, " ").trim();
    if (line === "") continue;
    titles.set(turnId, line.length <= titleLength ? line : `${line.slice(0, titleLength - 1)}\u2026`);
  }
  return titles;
}
