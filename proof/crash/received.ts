import type { SubscriptionFrame } from "@parley/core/runtime";
import type { AgentEvent } from "@parley/wire";
import type { ClientRecord, SentMessage } from "../../test/kill/client-record.js";

/** Events that a client received of its turns, and waiters for further ones. */
export class Received {
  readonly #record: ClientRecord;
  readonly #patienceMs: number;
  /** The turns of messages. */
  readonly #turns = new Map<string, string>();
  /** The tools that work, as `<message> <tool>`. */
  readonly #working = new Set<string>();
  #waiting: (() => void)[] = [];

  constructor(record: ClientRecord, patienceMs: number) {
    this.#record = record;
    this.#patienceMs = patienceMs;
  }

  /** Adds a frame that the record has recorded. */
  frame(frame: SubscriptionFrame): void {
    if (frame.type === "chat.chunks") {
      for (const { role, messageId, turnId } of frame.chunks) {
        if (role !== "user" || messageId === undefined || turnId === undefined) continue;
        this.#turns.set(messageId, turnId);
      }
    }
    if (frame.type === "chat.delta") this.event(frame.event);
    else this.#look();
  }

  event(event: AgentEvent): void {
    if (event.type === "user-message" && event.messageId !== undefined) {
      this.#turns.set(event.messageId, event.turnId);
    }
    // Calls are named after the message that they are made for.
    if (event.type === "tool-output") {
      this.#working.add(`${event.toolCallId.replace(/\.\d+\.\d+$/, "")} ${event.data.split(" ")[0]}`);
    }
    this.#look();
  }

  isWorking({ messageId }: SentMessage, tool: string): boolean {
    return this.#working.has(`${messageId} ${tool}`);
  }

  /**
   * A client that was away when a turn ended does not receive its end, but finds its rows in a log in which nothing
   * runs.
   */
  isSealed({ conversationId, messageId, receipt }: SentMessage): boolean {
    const turnId = this.#turns.get(messageId) ?? receipt?.turnId;
    if (turnId === undefined || this.#record.sealed.has(turnId)) return turnId !== undefined;
    return this.#record.viewers.some((viewer) => {
      if (viewer.conversationId !== conversationId || viewer.cursor.includes("~")) return false;
      const { status, chunks } = viewer.fold.state;
      return status === "idle" && chunks.some((chunk) => chunk.messageId === messageId);
    });
  }

  /** Resolves when it is so, checked whenever something was received. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        reject(new Error(`not within ${this.#patienceMs} ms: ${what}`));
      }, this.#patienceMs);
      const look = () => {
        if (!isSo()) {
          this.#waiting.push(look);
          return;
        }
        clearTimeout(late);
        resolve();
      };
      this.#waiting.push(look);
    });
  }

  #look(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const look of waiting) look();
  }
}
