import type { ConversationState, MessageState } from "@parley/client";
import type { TurnMetrics } from "@parley/wire";
import type { KnownMetrics } from "../figures/known-metrics.js";

/** A turn that can be inspected. */
export interface InspectedTurn {
  readonly turnId: string;
  /** Its name: its number from 1, or, while earlier turns are not read, its distance from the newest. */
  readonly name: string;
  /** Present once it is sealed and its figures are loaded. */
  readonly metrics?: TurnMetrics;
  /** The user's question, shortened, if the message is loaded. */
  readonly title?: string;
}

const titleLength = 80;

/**
 * Returns the turns of a conversation, oldest first: those whose messages are loaded before those whose figures are
 * read, then these, then newer ones, such as the running one.
 */
export function inspectedTurns(
  known: KnownMetrics,
  state: Pick<ConversationState, "messages" | "activeTurn">,
): readonly InspectedTurn[] {
  const titles = titlesOf(state.messages);
  const metricsOf = new Map(known.turns.map((metrics) => [metrics.turnId, metrics]));
  const loaded = new Set(state.messages.flatMap(({ turnId }) => (turnId === undefined ? [] : [turnId])));
  if (state.activeTurn !== undefined) loaded.add(state.activeTurn.turnId);
  const meeting = [...loaded].findIndex((turnId) => metricsOf.has(turnId));
  const ids = [...new Set([...[...loaded].slice(0, Math.max(0, meeting)), ...metricsOf.keys(), ...loaded])];
  const names = turnNames(ids.length, known.nextBefore === undefined);
  return ids.map((turnId, index) => {
    const metrics = metricsOf.get(turnId);
    const title = titles.get(turnId);
    return {
      turnId,
      name: names[index] ?? "",
      ...(metrics === undefined ? {} : { metrics }),
      ...(title === undefined ? {} : { title }),
    };
  });
}

/** Returns the names of this many turns, oldest first. Without the turns before them, their numbers are not known. */
export function turnNames(count: number, isWhole: boolean): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const back = count - 1 - index;
    if (isWhole) return `Turn ${index + 1}`;
    return back === 0 ? "Newest turn" : `Newest turn but ${back}`;
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
