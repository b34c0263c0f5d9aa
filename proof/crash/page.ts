import { type Connection, type ConversationHandle, createClient } from "@parley/client";
import type { StoredChunk } from "@parley/wire";
import { WebSocket } from "ws";
import type { Finding } from "../../test/kill/verify.js";
import { lookAgain } from "./http-log.js";

/** Time that a page may take to catch up once nothing happens any more. */
const patienceMs = 60_000;

/** A page that shows a conversation all the time, with the client that pages use, and reconnects by itself. */
export class Page {
  readonly handle: ConversationHandle;
  readonly #connection: Connection;

  constructor(url: string, conversationId: string) {
    const pace = {
      retryMinMs: 20,
      retryMaxMs: 250,
      openMs: 1_500,
      pingMs: 400,
      pongMs: 1_500,
      loadMs: 3_000,
    };
    this.#connection = createClient({ url, WebSocket, pace }).connect();
    this.handle = this.#connection.conversation(conversationId);
  }

  /** Sends until it is durable. A message that did not arrive is sent again under the same id. */
  async send(text: string, messageId: string): Promise<string | undefined> {
    const limitAt = performance.now() + patienceMs;
    let sent = this.handle.send(text, { messageId });
    for (;;) {
      try {
        return (await sent).turnId;
      } catch (error) {
        if (performance.now() > limitAt) throw error;
        await lookAgain();
        sent = this.handle.retry(messageId);
      }
    }
  }

  /** Waits until it shows the end of the log, and returns the differences between page and log. */
  async compare(chunks: readonly StoredChunk[]): Promise<Finding[]> {
    const { handle } = this;
    const end = String(chunks.length);
    const isThere = () => {
      const { phase, status, cursor } = handle.getState();
      return phase === "ready" && status === "idle" && cursor?.split(".")[0] === end;
    };
    if (!(await this.#until(isThere))) {
      const { phase, status, cursor, error } = handle.getState();
      const words = JSON.stringify({ phase, status, cursor, error, connection: this.#connection.getState() });
      return [{ kind: "cursor", words: `${handle.id}: a page does not get to ${end}: ${words}` }];
    }
    if (handle.getState().hasEarlier) await handle.loadThrough(1);
    const { messages } = handle.getState();
    const shown = messages.flatMap(({ id, role, parts }) =>
      parts.map(({ seq, chunk }) => JSON.stringify([seq, role, id, chunk])),
    );
    const kept = chunks.map(({ seq, role, messageId, chunk }) =>
      JSON.stringify([seq, role, messageId, chunk]),
    );
    const wrong = kept.findIndex((line, index) => line !== shown[index]);
    if (wrong === -1 && shown.length === kept.length) return [];
    const place = wrong === -1 ? kept.length : wrong;
    return [{ kind: "cursor", words: `${handle.id}: a page shows ${shown[place]} for ${kept[place]}` }];
  }

  close(): void {
    this.handle.release();
    this.#connection.close();
  }

  #until(isSo: () => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isThere: boolean) => {
        clearTimeout(late);
        stop();
        resolve(isThere);
      };
      const look = () => {
        if (isSo()) end(true);
      };
      const late = setTimeout(() => end(false), patienceMs);
      const stop = this.handle.subscribe(look);
      this.#connection.retryNow();
      look();
    });
  }
}
