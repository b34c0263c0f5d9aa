import type { Receipt, SubscriptionFrame } from "@parley/core/runtime";
import type { ConversationDetail, QueueMode, SentPart, StoredChunk, WsChatReceipt } from "@parley/wire";
import type { TurnKind } from "../../test/kill/client.js";
import { ClientRecord, type SentMessage } from "../../test/kill/client-record.js";
import { Refused } from "../../test/kill/running-node.js";
import type { Finding } from "../../test/kill/verify.js";
import { call, chat, isUnknown, OutcomeUnknown, type Place } from "./call.js";
import type { ChatSocket } from "./chat-socket.js";
import { Decider } from "./decider.js";
import { type Follower, followOnSocket, followOnStream } from "./follow.js";
import { lookAgain } from "./http-log.js";
import type { Nodes } from "./nodes.js";
import { Page } from "./page.js";
import { Received } from "./received.js";
import { isRefusedWith, stuckMs, untilAnswered } from "./until-answered.js";
import { Uploader } from "./uploader.js";

type Way = "chat" | "page" | "queue" | "steer" | "fork";

/** A setting that was sent: the last acknowledged one counts. */
export interface SentSetting {
  readonly conversationId: string;
  readonly name: "title" | "reasoning-effort" | "pinned" | "temporary";
  readonly value: string | boolean;
}

/** A message on its way: `done` rejects if it is refused. */
export interface SentAttempt {
  readonly message: SentMessage;
  readonly done: Promise<void>;
}

/**
 * A client with one conversation, over HTTP and a socket, of nodes that may die or sleep at any moment. It repeats
 * requests, with the same ids, until it is answered, and records everything it receives in its record.
 */
export class ScenarioClient {
  readonly record = new ClientRecord();
  readonly conversationId: string;
  readonly settings = new Map<string, SentSetting>();
  readonly uploader: Uploader;
  /** The hashes of the files of messages that were acknowledged, by message. */
  readonly attached = new Map<string, readonly string[]>();
  /** Called at every acknowledgement, before anything else happens. */
  onAcknowledged: () => void = () => {};
  readonly #nodes: Nodes;
  readonly #prefix: string;
  readonly #followers: Follower[] = [];
  readonly #page: Page;
  readonly #ways = new Map<string, Way>();
  readonly #received = new Received(this.record, stuckMs);
  readonly #decider: Decider;
  #count = 0;

  /** `url` is the address of its page: one for all nodes. */
  constructor(nodes: Nodes, url: string, prefix: string) {
    this.#nodes = nodes;
    this.#prefix = prefix;
    this.conversationId = `${prefix}main`;
    this.#page = new Page(url, this.conversationId);
    this.uploader = new Uploader(nodes, prefix, () => this.onAcknowledged());
    this.#decider = new Decider(nodes, this.record, this.conversationId, () => this.onAcknowledged());
  }

  /** Returns the conversation and its forks, as far as they are known to exist. */
  get conversationIds(): string[] {
    const forks = [...this.record.forks].flatMap(([id, { isKnown }]) => (isKnown ? [id] : []));
    return [this.conversationId, ...forks];
  }

  get followers(): readonly Follower[] {
    return this.#followers;
  }

  /** Creates the conversation and follows it, on a socket and on a stream. */
  async begin(): Promise<void> {
    await this.#insist("create", (place) =>
      call(place, "POST /conversations", { body: { id: this.conversationId } }),
    );
    this.#follow(this.conversationId, followOnSocket);
    this.#follow(this.conversationId, followOnStream);
    await this.#received.until("the followers are there", () =>
      this.#followers.every(({ viewer }) => viewer.frames.length > 0),
    );
  }

  async end(): Promise<void> {
    this.#page.close();
    await Promise.all(this.#followers.map((follower) => follower.stop()));
  }

  /** Sends with `POST /chat` and reads the turn to its end. */
  chat(
    kind: TurnKind,
    given: { readonly parts?: readonly SentPart[]; readonly conversationId?: string } = {},
  ): { readonly message: SentMessage; readonly sealed: Promise<void> } {
    const message = this.#message(kind, "chat", given.conversationId, given.parts);
    return { message, sealed: this.#chat(message) };
  }

  /** Returns the id of a conversation beside the main one, which is to be removed. */
  sideId(name: string): string {
    return `${this.#prefix}${name}`;
  }

  /** Forgets a message that was refused, or that was removed with its conversation. */
  forget({ messageId }: SentMessage): void {
    this.record.sent.delete(messageId);
  }

  /** Sends from the page; resolves when it is durable. */
  async send(kind: TurnKind): Promise<SentMessage> {
    const message = this.#message(kind, "page");
    const { conversationId, messageId, text } = message;
    const turnId = await this.#page.send(text, messageId);
    const turn = turnId === undefined ? {} : { turnId };
    message.receipt = { conversationId, messageId, outcome: "started", repeated: false, ...turn };
    this.onAcknowledged();
    return message;
  }

  /** Returns the differences between the page and the log. */
  comparePage(chunks: readonly StoredChunk[]): Promise<Finding[]> {
    return this.#page.compare(chunks);
  }

  /** Sends a message that waits for its turn. */
  async enqueue(kind: TurnKind): Promise<SentMessage> {
    const message = this.#message(kind, "queue");
    await this.#enqueue(message, "queue");
    return message;
  }

  /** Sends a message that waits for its turn, with files that may have expired. */
  enqueueParts(kind: TurnKind, parts: readonly SentPart[]): SentAttempt {
    const message = this.#message(kind, "queue", undefined, parts);
    return { message, done: this.#enqueue(message, "queue") };
  }

  /** Sends a message that joins the running turn, or opens the next, on the socket. */
  async steer(): Promise<SentMessage> {
    const message = this.#message(undefined, "steer");
    await this.#steer(message);
    return message;
  }

  /** Gives a waiting message another text, unless it was delivered. */
  async edit(message: SentMessage, kind: TurnKind): Promise<void> {
    const edit = { text: `do ${kind} ${message.messageId}`, isDone: false };
    let isOutcomeUnknown = false;
    message.edits ??= [];
    message.edits.push(edit);
    const params = { id: message.conversationId, messageId: message.messageId };
    try {
      await this.#insist("edit", async (place) => {
        const tried = call(place, "PATCH /conversations/:id/queue/:messageId", {
          params,
          body: { text: edit.text },
        });
        await tried.catch((error) => {
          isOutcomeUnknown ||= isUnknown(error);
          throw error;
        });
      });
      edit.isDone = true;
    } catch (error) {
      if (!isRefusedWith(error, "message_conflict", "invalid_request")) throw error;
      if (!isOutcomeUnknown) message.edits = message.edits.filter((each) => each !== edit);
    }
  }

  /** Moves a waiting message before another, unless one of them was delivered. */
  async moveBefore(message: SentMessage, other: SentMessage): Promise<void> {
    const params = { id: message.conversationId, messageId: message.messageId };
    const body = { before: other.messageId };
    await this.#insist("move", (place) =>
      call(place, "PATCH /conversations/:id/queue/:messageId", { params, body }),
    ).catch(unlessRefusedWith("message_conflict", "invalid_request"));
  }

  /** Removes a waiting message, unless it was delivered. */
  async remove(message: SentMessage): Promise<void> {
    const params = { id: message.conversationId, messageId: message.messageId };
    try {
      await this.#insist("remove", async (place) => {
        const tried = call(place, "DELETE /conversations/:id/queue/:messageId", { params });
        await tried.catch((error) => {
          if (isUnknown(error)) message.removal = "unknown";
          throw error;
        });
      });
      message.removal = "done";
    } catch (error) {
      if (!isRefusedWith(error, "message_conflict", "invalid_request")) throw error;
      // It was delivered, and what is in the log was not removed.
      delete message.removal;
    }
  }

  async setTitle(value: string): Promise<void> {
    const params = { id: this.conversationId };
    await this.#insist("title", (place) =>
      call(place, "PUT /conversations/:id/title", { params, body: { title: value } }),
    );
    this.settings.set("title", { conversationId: this.conversationId, name: "title", value });
  }

  async setEffort(value: "low" | "medium" | "high"): Promise<void> {
    const params = { id: this.conversationId };
    await this.#insist("effort", (place) =>
      call(place, "PUT /conversations/:id/reasoning-effort", { params, body: { reasoningEffort: value } }),
    );
    this.settings.set("effort", { conversationId: this.conversationId, name: "reasoning-effort", value });
  }

  async setPinned(value: boolean): Promise<void> {
    const params = { id: this.conversationId };
    await this.#insist("pinned", (place) =>
      call(place, "PUT /conversations/:id/pinned", { params, body: { pinned: value } }),
    );
    this.settings.set("pinned", { conversationId: this.conversationId, name: "pinned", value });
  }

  async setTemporary(value: boolean): Promise<void> {
    const params = { id: this.conversationId };
    await this.#insist("temporary", (place) =>
      call(place, "PUT /conversations/:id/temporary", { params, body: { temporary: value } }),
    );
    this.settings.set("temporary", { conversationId: this.conversationId, name: "temporary", value });
  }

  async stop(): Promise<void> {
    const params = { id: this.conversationId };
    await this.#insist("stop", (place) => call(place, "POST /conversations/:id/stop", { params }));
  }

  /** Sends one request: a second one would be a second compaction. */
  async compact(): Promise<void> {
    const asked: ClientRecord["compactions"][number] = {
      conversationId: this.conversationId,
      outcome: "unknown",
    };
    this.record.compactions.push(asked);
    const node = await this.#nodes.reach();
    try {
      const params = { id: this.conversationId };
      await call(node, "POST /conversations/:id/compact", { params, body: { keepLastN: 4 } });
      asked.outcome = "done";
      this.onAcknowledged();
    } catch (error) {
      if (isUnknown(error)) return;
      if (!(error instanceof Refused)) throw error;
      asked.outcome = "refused";
    }
  }

  /** Resolves when something runs, a turn or a compaction; or with `over`, if that is done before. */
  async untilActive(over: Promise<unknown>): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    over.then(end, end);
    while (!isOver) {
      const { status } = await this.#meta(this.conversationId);
      if (status === "active") return;
    }
  }

  /** Forks after the newest turn that is known to be sealed, with a message that opens the fork's first turn. */
  async fork(kind: TurnKind): Promise<SentMessage> {
    const seals = [...this.record.sealed.values()].filter(
      (seal) => seal.conversationId === this.conversationId,
    );
    const atSeq = Math.max(0, ...seals.map(({ lastSeq }) => lastSeq ?? 0));
    const id = `${this.#prefix}fork`;
    this.record.forks.set(id, { parentId: this.conversationId, atSeq, isKnown: false });
    const message = this.#message(kind, "fork", id);
    await this.#fork(message);
    this.#follow(id, followOnStream);
    return message;
  }

  /** Waits until nothing runs and nothing waits; resumes what is paused. */
  async rest(id = this.conversationId): Promise<void> {
    const params = { id };
    const limitAt = performance.now() + stuckMs;
    for (;;) {
      const { activeTurn, queue, status } = await this.#meta(id);
      const isIdle = activeTurn === undefined && status !== "active";
      if (isIdle && queue.messages.length === 0) return;
      if (isIdle && queue.paused) {
        await this.#insist("resume", (place) =>
          call(place, "POST /conversations/:id/queue/resume", { params }),
        );
      }
      if (performance.now() > limitAt) {
        throw new Error(`${id} does not come to rest: ${JSON.stringify({ activeTurn, status, queue })}`);
      }
      await lookAgain();
    }
  }

  /** Resolves when a tool works on a message, or when its turn is over and it never will. */
  async untilWorking(message: SentMessage, tool: string): Promise<void> {
    const isSo = () => this.#received.isWorking(message, tool) || this.#received.isSealed(message);
    await this.#received.until(`${tool} works on ${message.messageId}`, isSo);
  }

  /** Resolves when a message's turn is sealed, by the events that followers received. */
  async untilSealed(message: SentMessage): Promise<void> {
    await this.#received.until(`the turn of ${message.messageId} is sealed`, () =>
      this.#received.isSealed(message),
    );
  }

  /** Decides on all requests of a message's turn, until it is sealed. */
  async decideAll(message: SentMessage): Promise<void> {
    await this.#decider.decideUntil(() => this.#received.isSealed(message));
  }

  /** Decides on the first request of a message's turn. */
  async decideOnce(message: SentMessage): Promise<void> {
    await this.#decider.decideOnce(() => this.#received.isSealed(message));
  }

  /** Sends the newest messages again, the way they were sent, and returns the answers that differ. */
  async checkReceipts(newest: number): Promise<string[]> {
    const problems: string[] = [];
    for (const message of [...this.record.sent.values()].slice(-newest)) {
      const before = message.receipt;
      if (before === undefined) continue;
      const again: SentMessage = { ...message, receipt: undefined };
      await this.#sendAgain(again);
      const after = again.receipt;
      const isSame = after?.outcome === before.outcome;
      const isSameTurn = before.turnId === undefined || after?.turnId === before.turnId;
      if (!isSame || !isSameTurn) {
        problems.push(`${message.messageId}: ${JSON.stringify(before)}, then ${JSON.stringify(after)}`);
      }
    }
    return problems;
  }

  #sendAgain(message: SentMessage): Promise<void> {
    const way = this.#ways.get(message.messageId);
    if (way === "chat") return this.#chat(message);
    if (way === "page") return this.#sendOnSocket(message);
    if (way === "steer") return this.#steer(message);
    if (way === "fork") return this.#fork(message);
    return this.#enqueue(message, "queue");
  }

  #message(
    kind: TurnKind | undefined,
    way: Way,
    conversationId = this.conversationId,
    parts?: readonly SentPart[],
  ): SentMessage {
    this.#count += 1;
    const messageId = `${this.#prefix}m${this.#count}`;
    const text = kind === undefined ? `also ${messageId}` : `do ${kind} ${messageId}`;
    const more = parts === undefined ? {} : { parts };
    const message: SentMessage = { conversationId, messageId, text, receipt: undefined, ...more };
    this.record.sent.set(messageId, message);
    this.#ways.set(messageId, way);
    return message;
  }

  async #chat(message: SentMessage): Promise<void> {
    const { conversationId, messageId, text, parts } = message;
    await this.#insist("chat", (place) =>
      chat(
        place,
        { conversationId, messageId, message: text, parts },
        {
          onAdmitted: () => {
            message.receipt ??= { conversationId, messageId, outcome: "started", repeated: false };
            this.onAcknowledged();
          },
          onEvent: (event) => {
            if (event.type === "user-message")
              message.receipt = { ...receiptOf(message), turnId: event.turnId };
            this.record.note(event);
            this.#received.event(event);
          },
        },
      ),
    );
  }

  async #sendOnSocket(message: SentMessage): Promise<void> {
    const { conversationId, messageId, text } = message;
    const receipt = await this.#insistOnSocket("send", (socket) =>
      socket.ask({ type: "chat.send", conversationId, messageId, message: text }),
    );
    message.receipt = fromWire(receipt);
  }

  async #steer(message: SentMessage): Promise<void> {
    const { conversationId, messageId, text } = message;
    const receipt = await this.#insistOnSocket("steer", (socket) =>
      socket.ask({ type: "chat.queue", conversationId, messageId, text, mode: "steer" }),
    );
    message.receipt = fromWire(receipt);
  }

  async #enqueue(message: SentMessage, mode: QueueMode): Promise<void> {
    const { conversationId, messageId, text, parts } = message;
    const params = { id: conversationId };
    const body = { text, messageId, mode, parts };
    const { startedTurn, turnId } = await this.#insist("enqueue", (place) =>
      call(place, "POST /conversations/:id/queue", { params, body }),
    );
    message.receipt = {
      conversationId,
      messageId,
      outcome: startedTurn ? "started" : "queued",
      repeated: false,
      ...(turnId === undefined ? {} : { turnId }),
    };
  }

  async #fork(message: SentMessage): Promise<void> {
    const { conversationId: id, messageId, text } = message;
    const fork = this.record.forks.get(id);
    if (fork === undefined) throw new Error(`${id} is no fork`);
    const body = { atSeq: fork.atSeq, id, message: text, messageId };
    const { turnId } = await this.#insist("fork", (place) =>
      call(place, "POST /conversations/:id/fork", { params: { id: fork.parentId }, body }),
    );
    fork.isKnown = true;
    message.receipt = {
      conversationId: id,
      messageId,
      outcome: "started",
      repeated: false,
      ...(turnId === undefined ? {} : { turnId }),
    };
  }

  #follow(conversationId: string, follow: typeof followOnSocket): void {
    const viewer = this.record.view(conversationId);
    const take = (frame: SubscriptionFrame) => {
      this.record.take(viewer, frame);
      this.#received.frame(frame);
    };
    this.#followers.push(follow(this.#nodes, viewer, take));
  }

  #insistOnSocket(what: string, ask: (socket: ChatSocket) => Promise<WsChatReceipt>): Promise<WsChatReceipt> {
    return this.#insist(what, () => {
      const socket = this.#followers.find((follower) => follower.socket !== undefined)?.socket;
      return socket === undefined
        ? Promise.reject(new OutcomeUnknown("there is no socket now"))
        : ask(socket);
    });
  }

  async #insist<T>(what: string, attempt: (place: Place) => Promise<T>): Promise<T> {
    const value = await untilAnswered(this.#nodes, `${what} in ${this.conversationId}`, attempt);
    this.onAcknowledged();
    return value;
  }

  #meta(id: string): Promise<ConversationDetail> {
    return untilAnswered(this.#nodes, `meta of ${id}`, (place) =>
      call(place, "GET /conversations/:id/meta", { params: { id } }),
    );
  }
}

function receiptOf(message: SentMessage): Receipt {
  const { conversationId, messageId, receipt } = message;
  return receipt ?? { conversationId, messageId, outcome: "started", repeated: false };
}

function fromWire({ conversationId, messageId, outcome, turnId }: WsChatReceipt): Receipt {
  return { conversationId, messageId, outcome, repeated: false, ...(turnId === undefined ? {} : { turnId }) };
}

function unlessRefusedWith(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!isRefusedWith(error, ...codes)) throw error;
  };
}
