import {
  type CanonicalMessage,
  type ConversationMessage,
  fromCanonical,
  repairHistory,
  toCanonical,
  toProviderMessages,
} from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";

/** A conversation as a store keeps it: each message in canonical form, as text. */
export class ConversationLog {
  readonly #lines: string[] = [];
  readonly #live: ConversationMessage[] = [];

  append(messages: readonly ConversationMessage[]): void {
    for (const message of messages) {
      this.#live.push(message);
      this.#lines.push(JSON.stringify(toCanonical(message)));
    }
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Returns the messages as the turns made them, before they were stored. */
  get live(): readonly ConversationMessage[] {
    return this.#live;
  }
}

/** Reads stored messages back. */
export function readLines(lines: readonly string[]): CanonicalMessage[] {
  return lines.map((line) => {
    const stored = JSON.parse(line) as Omit<CanonicalMessage, "createdAt"> & { createdAt: string };
    return { ...stored, createdAt: new Date(stored.createdAt) };
  });
}

/** Returns the line with the keys of every object in another order, as a database returns JSON. */
export function reordered(line: string): string {
  return JSON.stringify(sorted(JSON.parse(line)));
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const keys = Object.keys(value).sort(
    (left, right) => left.length - right.length || (left < right ? -1 : 1),
  );
  return Object.fromEntries(keys.map((key) => [key, sorted((value as Record<string, unknown>)[key])]));
}

/** Returns what a provider is shown of messages, with the host's instructions in front. */
export function shown(messages: readonly ConversationMessage[]): ProviderMessage[] {
  return [instructions, ...toProviderMessages(repairHistory(messages).messages)];
}

/** Returns what a provider is shown of a stored conversation. */
export function shownLines(lines: readonly string[]): ProviderMessage[] {
  return shown(readLines(lines).flatMap(fromCanonical));
}

const instructions: ProviderMessage = {
  role: "system",
  content: [{ type: "text", text: "You are a careful assistant." }],
};
