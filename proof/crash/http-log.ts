import { setTimeout as sleep } from "node:timers/promises";
import type { SubscriptionFrame } from "@parley/core/runtime";
import type { ConversationDetail, StoredChunk, TurnDetail } from "@parley/wire";
import type { LogReader } from "../../test/kill/verify.js";
import { call, isUnknown, type Place } from "./call.js";
import { ChatSocket } from "./chat-socket.js";
import { readEvents } from "./follow.js";

/** Time that a reconnecting client waits for what it is missing, on a machine that is busy with other things. */
const patienceMs = 20_000;
/** Time without further frames after which everything has arrived, if nothing else marks the end. */
const quietMs = 25;
/** One of this many cursors is tried on a stream, the others on a socket. */
const streamShare = 4;

/** The log as a new client reads it: over HTTP, event streams and a socket of its own. */
export class HttpLog implements LogReader {
  readonly #url: string;
  readonly #place: Place;
  /** Ends of logs in which nothing runs. */
  readonly #ends = new Map<string, string>();
  #socket: Promise<ChatSocket> | undefined;
  #resumed = 0;
  /** Outcome of the last attempt to reconnect. */
  #why = "";

  constructor(url: string) {
    this.#url = url;
    this.#place = { url, patienceMs };
  }

  async history(id: string): Promise<readonly StoredChunk[]> {
    const input = { params: { id }, query: { open: true } };
    const { chunks } = await twice(() => call(this.#place, "GET /conversations/:id", input));
    return chunks;
  }

  meta(id: string): Promise<ConversationDetail> {
    return twice(() => call(this.#place, "GET /conversations/:id/meta", { params: { id } }));
  }

  turn(id: string, turnId: string): Promise<TurnDetail> {
    const params = { id, turnId };
    return twice(() => call(this.#place, "GET /conversations/:id/turns/:turnId", { params }));
  }

  async openTurn(id: string): Promise<Awaited<ReturnType<LogReader["openTurn"]>>> {
    const { activeTurn } = await this.meta(id);
    if (activeTurn === undefined) return null;
    return { turnId: activeTurn.turnId } as Awaited<ReturnType<LogReader["openTurn"]>>;
  }

  /** Reconnects with a cursor while nothing runs, and reads what is missing up to the log's end. */
  async resume(conversationId: string, cursor: string): Promise<readonly SubscriptionFrame[]> {
    const end = this.#ends.get(conversationId) ?? (await this.meta(conversationId)).cursor;
    this.#ends.set(conversationId, end);
    this.#resumed += 1;
    const isStreamed = this.#resumed % streamShare === 0;
    const come = () =>
      isStreamed
        ? this.#resumeOnStream(conversationId, cursor, end)
        : this.#resumeOnSocket(conversationId, cursor, end);
    // A connection may break here as anywhere: a second attempt gets all of it.
    for (let attempt = 1; ; attempt += 1) {
      const frames = await come();
      if (frames.some((frame) => frame.cursor === end) || attempt === 2) {
        if (frames.length > 0) return frames;
        throw new Error(`no answer to the cursor ${cursor} of ${conversationId}. ${this.#why}`);
      }
    }
  }

  async close(): Promise<void> {
    (await this.#socket?.catch(() => undefined))?.close();
  }

  async #resumeOnSocket(conversationId: string, cursor: string, end: string): Promise<SubscriptionFrame[]> {
    this.#socket ??= ChatSocket.open(this.#url, patienceMs);
    const socket = await this.#socket;
    const frames: SubscriptionFrame[] = [];
    await new Promise<void>((resolve) => {
      const late = setTimeout(resolve, patienceMs);
      const over = () => {
        clearTimeout(late);
        resolve();
      };
      socket.onFrame = (frame) => {
        frames.push(frame);
        if (frame.cursor === end) over();
      };
      socket.onClosed = over;
      socket.say({ type: "chat.subscribe", conversationId, cursor });
      if (!socket.isOpen) over();
    });
    // Everything sent in the same go arrives before the echo.
    await socket.echo();
    socket.say({ type: "chat.unsubscribe", conversationId });
    await socket.echo();
    socket.onFrame = () => {};
    this.#why = `The socket is ${socket.isOpen ? "open" : "closed"}. ${socket.refusal}`;
    if (!socket.isOpen) this.#socket = undefined;
    return frames;
  }

  async #resumeOnStream(conversationId: string, cursor: string, end: string): Promise<SubscriptionFrame[]> {
    const frames: SubscriptionFrame[] = [];
    const stop = new AbortController();
    const late = setTimeout(() => stop.abort(), patienceMs);
    let quiet: NodeJS.Timeout | undefined;
    const take = (frame: SubscriptionFrame) => {
      frames.push(frame);
      clearTimeout(quiet);
      if (frame.cursor === end) quiet = setTimeout(() => stop.abort(), quietMs);
    };
    try {
      await readEvents(this.#place, conversationId, cursor, { take, signal: stop.signal });
    } catch (error) {
      if (!isUnknown(error)) throw error;
      this.#why = String(error);
    } finally {
      clearTimeout(late);
      clearTimeout(quiet);
    }
    return frames;
  }
}

/** Repeats a request if a connection broke. */
async function twice<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!isUnknown(error)) throw error;
    return ask();
  }
}

/** Waits a moment between two checks of a state that no event announces. */
export async function lookAgain(): Promise<void> {
  await sleep(40);
}
