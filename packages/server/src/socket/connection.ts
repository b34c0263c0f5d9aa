import type { Duplex } from "node:stream";
import type { ParleyError } from "@parley/core";
import { toParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { OwnerRuntime, WatchEvent } from "@parley/core/runtime";
import type { WsServerMessage } from "@parley/wire";
import type { RawData, WebSocket } from "ws";
import type { AppContext } from "../app-env.js";
import { tooManyRequests } from "../auth/admit-request.js";
import { type Caller, rateKeyOf } from "../auth/caller.js";
import type { CloseReason, LastingConnection } from "../http/connections.js";
import { inputIn } from "../http/problem.js";
import { parseJson } from "../http/read-body.js";
import { invalidFields } from "../http/request-refusal.js";
import { describeFailure } from "../telemetry/logging.js";
import { ChatSubscriptions } from "./chat-subscriptions.js";
import { handleMessage } from "./handle-message.js";
import { namesIn } from "./message-names.js";
import { Outbox } from "./outbox.js";
import { Surfaces, surfaceCatalog } from "./surfaces.js";

/** Messages of a client that may wait before it is paused. */
const mostWaiting = 64;
const mostPerFrame = 100;

const closeCodes: Readonly<
  Record<CloseReason | "behind" | "full" | "unauthorized" | "failed", [number, string]>
> = {
  draining: [1012, "restarting: connect again, and resume by cursor"],
  closing: [1001, "going away"],
  behind: [1013, "too far behind: connect again, and resume by cursor"],
  full: [1013, "too many connections of this key are open"],
  revoked: [4401, "the key was revoked, or the login has ended"],
  unauthorized: [4401, "a valid key is needed"],
  failed: [1013, "try again later"],
};

/** Closes a socket with the code of the reason. */
export function closeSocket(socket: WebSocket, why: keyof typeof closeCodes): void {
  const [code, reason] = closeCodes[why];
  socket.close(code, reason);
}

/**
 * One socket. Messages of a client are handled in order, one after the other, so that what it queues stays in the
 * order it was typed; what it follows is sent as it happens. A connection holds no state that a client could not have
 * again by reconnecting with its cursors.
 */
export class Connection implements LastingConnection {
  readonly caller: Caller;
  readonly me: OwnerRuntime;
  readonly app: AppContext;
  readonly chats: ChatSubscriptions;
  readonly surfaces: Surfaces;
  readonly #socket: WebSocket;
  readonly #requestId: string;
  readonly #outbox: Outbox;
  readonly #onOver: (() => void)[] = [];
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingBytes = 0;
  #isAlive = true;
  #isOver = false;

  constructor(options: {
    readonly app: AppContext;
    readonly socket: WebSocket;
    readonly connection: Duplex;
    readonly caller: Caller;
    readonly isBatch: boolean;
    /** Id of the request that opened it, for logs. */
    readonly requestId: string;
  }) {
    const { app, socket, caller } = options;
    this.app = app;
    this.caller = caller;
    this.me = app.runtime.forOwner(caller.owner);
    this.#socket = socket;
    this.#requestId = options.requestId;
    const outbox = new Outbox({
      connection: options.connection,
      isBatch: options.isBatch,
      bufferedBytes: app.limits.bufferedBytes,
      onBehind: () => this.#close("behind"),
    });
    this.#outbox = outbox;
    this.chats = new ChatSubscriptions(this.me, {
      onFrame: (frame) => outbox.add(frame),
      onEnd: (conversationId, error) => {
        if (error !== undefined) this.refuse(error, { conversationId });
      },
    });
    this.surfaces = new Surfaces(this.me, (message) => this.send(message));
  }

  /** Sends the greeting and starts to receive messages. */
  start(): void {
    const { app } = this;
    this.#socket.on("message", (data, isBinary) => this.#take(data, isBinary));
    this.#socket.on("pong", () => {
      this.#isAlive = true;
    });
    const openedAt = app.clock.monotonic();
    this.#socket.on("close", (code) => {
      this.#over();
      const { owner, keyId } = this.caller;
      const durationMs = Math.round(app.clock.monotonic() - openedAt);
      app.logger.info({ requestId: this.#requestId, owner, keyId, code, durationMs }, "socket closed");
    });
    // A frame that is too large or not UTF-8: the library closes the socket with the code for it.
    this.#socket.on("error", () => {});
    this.send({ type: "catalog", catalog: surfaceCatalog });
    app.telemetry?.socketOpened();
    this.#onOver.push(
      () => app.telemetry?.socketClosed(),
      app.connections.add(this),
      app.ping.add(() => this.#ping()),
    );
    this.me
      .watch((event) => this.#watched(event))
      .then(
        (stop) => {
          if (this.#isOver) stop();
          else this.#onOver.push(stop);
        },
        (error: unknown) => {
          this.refuse(toParleyError(error), {});
          this.#close("failed");
        },
      );
  }

  send(message: WsServerMessage): void {
    this.#outbox.add(message);
  }

  /** Sends the client a refusal of its request. */
  refuse(
    error: ParleyError,
    about: {
      readonly conversationId?: string | undefined;
      readonly messageId?: string | undefined;
      readonly requestId?: string | undefined;
    },
  ): void {
    const { code, message, retryable } = error;
    const { conversationId, messageId, requestId } = about;
    const { response } = inputIn(error);
    this.send({
      type: "chat.error",
      ...omitUndefined({ conversationId, messageId, requestId, response }),
      code,
      message,
      retryable,
    });
  }

  close(reason: CloseReason): void {
    if (reason === "closing") this.#socket.terminate();
    else this.#close(reason);
  }

  #close(why: keyof typeof closeCodes): void {
    this.#outbox.close();
    closeSocket(this.#socket, why);
    this.#over();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#outbox.close();
    this.chats.close();
    this.surfaces.clear();
    for (const undo of this.#onOver.splice(0)) undo();
  }

  #ping(): void {
    if (!this.#isAlive) {
      this.#socket.terminate();
      return;
    }
    this.#isAlive = false;
    this.#outbox.ping();
  }

  #watched(event: WatchEvent): void {
    if (event.type === "queue.changed") {
      this.app.telemetry?.queueSeen(event.conversationId, event.queue);
      this.surfaces.queueChanged(event.conversationId, event.queue);
      return;
    }
    if (event.type === "conversation.removed") {
      this.app.telemetry?.queueSeen(event.conversationId, { messages: [] });
      this.surfaces.removed(event.conversationId);
    }
    this.send(event);
  }

  #take(data: RawData, isBinary: boolean): void {
    this.#isAlive = true;
    const size = sizeOf(data);
    this.#waiting += 1;
    this.#waitingBytes += size;
    if (this.#isFull(1) && !this.#socket.isPaused) this.#socket.pause();
    this.#last = this.#last.then(async () => {
      try {
        if (!this.#isOver) await this.#handleFrame(data, isBinary);
      } catch (thrown) {
        this.app.logger.error(
          { requestId: this.#requestId, owner: this.caller.owner, ...describeFailure(thrown) },
          "a socket message failed",
        );
        this.refuse(toParleyError(thrown), {});
      }
      this.#waiting -= 1;
      this.#waitingBytes -= size;
      if (this.#socket.isPaused && !this.#isFull(2)) this.#socket.resume();
    });
  }

  /**
   * Returns true if the backlog is at its limit, or at one of `parts` parts of it. One frame may be as large as all
   * together.
   */
  #isFull(parts: number): boolean {
    return this.#waiting >= mostWaiting / parts || this.#waitingBytes >= this.app.limits.frameBytes / parts;
  }

  async #handleFrame(data: RawData, isBinary: boolean): Promise<void> {
    let values: unknown[];
    try {
      if (isBinary) throw invalidFields([{ path: "", message: "frames are text, of JSON" }]);
      const value = parseJson(String(data));
      values = Array.isArray(value) ? value : [value];
      if (values.length > mostPerFrame) {
        throw invalidFields([{ path: "", message: `at most ${mostPerFrame} messages per frame` }]);
      }
    } catch (error) {
      this.#count();
      this.refuse(toParleyError(error), {});
      return;
    }
    // An empty frame counts too: it had to be read.
    if (values.length === 0) this.#count();
    for (const value of values) {
      // A client that left, or was disconnected, requests nothing more.
      if (this.#isOver) return;
      const refusal = this.#count();
      if (refusal === undefined) await handleMessage(this, value);
      else this.refuse(refusal, namesIn(value));
    }
  }

  #count(): ParleyError | undefined {
    const verdict = this.app.rate.take(rateKeyOf(this.caller));
    return verdict.allowed ? undefined : tooManyRequests(verdict);
  }
}

function sizeOf(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, piece) => sum + piece.length, 0) : data.byteLength;
}
