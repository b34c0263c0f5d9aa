import type { Connection, ConversationHandle, ConversationState, ParleyClient } from "@parley/client";
import { createUuidV7Factory } from "@parley/core/messages";
import { omitUndefined } from "@parley/fold";
import type { ConversationMeta, QueueMode, ReasoningEffort, UploadInfo } from "@parley/wire";
import { deleteTemporary } from "../delete-temporary.js";
import { inputsOf, type LoggedInput, openInputs } from "../input/open-inputs.js";
import type { EntryOptions } from "../transcript/render-entry.js";
import { type TranscriptUpdate, TranscriptView } from "../transcript/transcript-view.js";

/** Choices that are sent with every turn: those of the command line, and those made before the conversation exists. */
export interface Choices {
  model?: string;
  effort?: ReasoningEffort;
}

/** Number of the newest messages that are shown when a conversation is opened. */
const shownAtFirst = 12;

/**
 * The conversation that a chat is in: follows it, says what is new of it, and sends. Which conversation that is can
 * change. What is typed while a turn runs waits in the queue or steers; the caller says which.
 */
export class ChatController {
  readonly client: ParleyClient;
  readonly connection: Connection;
  readonly choices: Choices;
  /** Files that go with the next message. */
  attached: readonly UploadInfo[] = [];
  readonly #ids = createUuidV7Factory();
  readonly #onChange: () => void;
  readonly #defaultModel: string | undefined;
  #handle: ConversationHandle;
  #view = new TranscriptView();
  #stopListening: () => void;
  #begun = false;
  readonly #beginsTemporary: boolean;
  /** Temporary conversations that begin here. */
  readonly #temporary = new Set<string>();
  /** Those of them that exist, and are deleted at the end. */
  readonly #made = new Set<string>();

  constructor(options: {
    client: ParleyClient;
    id?: string | undefined;
    choices: Choices;
    /** The model of a conversation that has not begun. */
    defaultModel?: string | undefined;
    /** Conversations that begin here are temporary. Default false. */
    temporary?: boolean | undefined;
    onChange: () => void;
  }) {
    this.client = options.client;
    this.choices = options.choices;
    this.#onChange = options.onChange;
    this.#defaultModel = options.defaultModel;
    this.#beginsTemporary = options.temporary === true;
    this.connection = options.client.connect();
    this.#handle = this.connection.conversation(options.id ?? this.#newId());
    this.#stopListening = this.#handle.subscribe(this.#onChange);
  }

  get id(): string {
    return this.#handle.id;
  }

  get state(): ConversationState {
    return this.#handle.getState();
  }

  /** The end of the chat deletes the conversation. */
  get isTemporary(): boolean {
    return this.#temporary.has(this.id);
  }

  get isRunning(): boolean {
    return this.state.status === "active" || this.state.activeTurn !== undefined;
  }

  /** Ids of the requests that are still open, in order. */
  get openInputs(): readonly string[] {
    return openInputs(this.inputs);
  }

  /** Requests for input in the log, by id. */
  get inputs(): ReadonlyMap<string, LoggedInput> {
    return inputsOf(this.state);
  }

  /** The model of the turn that runs, else the one that the next turn asks; undefined while that is being read. */
  get model(): string | undefined {
    const { activeTurn, meta, phase } = this.state;
    const next = phase === "missing" ? this.#defaultModel : meta?.effective?.model;
    return activeTurn?.model ?? this.choices.model ?? next;
  }

  /** The effort of the next turn, where it is known. */
  get effort(): ReasoningEffort | undefined {
    return this.choices.effort ?? this.state.meta?.effective?.reasoningEffort;
  }

  /** Chooses the model of the next turns. A conversation that exists keeps it as its setting. */
  async chooseModel(model: string): Promise<void> {
    if (!(await this.exists())) {
      this.choices.model = model;
      return;
    }
    await this.client.request("PUT /conversations/:id/model", { params: { id: this.id }, body: { model } });
    delete this.choices.model;
  }

  /** Chooses the effort of the next turns. A conversation that exists keeps it as its setting. */
  async chooseEffort(effort: ReasoningEffort): Promise<void> {
    if (!(await this.exists())) {
      this.choices.effort = effort;
      return;
    }
    const body = { reasoningEffort: effort };
    await this.client.request("PUT /conversations/:id/reasoning-effort", { params: { id: this.id }, body });
    delete this.choices.effort;
  }

  /** A message is on its way and has not been acknowledged. */
  get isSending(): boolean {
    return this.state.pending.some(({ status }) => status === "sending");
  }

  /** Returns what is new since the last call. The first call on an existing conversation returns its newest messages. */
  update(options: EntryOptions): TranscriptUpdate & { readonly earlier: number } {
    const { state } = this;
    let earlier = 0;
    if (!this.#begun && (state.phase === "ready" || state.phase === "missing")) {
      this.#begun = true;
      this.#view.skip(state, Math.max(0, state.messages.length - shownAtFirst));
      earlier = (state.messages.slice(-shownAtFirst)[0]?.firstSeq ?? 1) - 1;
    }
    if (!this.#begun) return { print: [], live: [], isMoving: false, earlier };
    return { ...this.#view.update(state, options), earlier };
  }

  #newId(): string {
    const id = this.#ids.next();
    if (this.#beginsTemporary) this.#temporary.add(id);
    return id;
  }

  /** Goes to another conversation; without an id to a new one. */
  enter(id: string | undefined): void {
    this.#stopListening();
    this.#handle.release();
    this.#handle = this.connection.conversation(id ?? this.#newId());
    this.#stopListening = this.#handle.subscribe(this.#onChange);
    this.#view = new TranscriptView();
    this.#begun = false;
    this.#onChange();
  }

  /** Goes to a fork that was made here. */
  enterFork({ id, temporary }: Pick<ConversationMeta, "id" | "temporary">): void {
    if (temporary) {
      this.#temporary.add(id);
      this.#made.add(id);
    }
    this.enter(id);
  }

  /** Keeps the conversation: the end of the chat does not delete it. */
  async keep(): Promise<void> {
    const params = { id: this.id };
    await this.client.request("PUT /conversations/:id/temporary", { params, body: { temporary: false } });
    this.#temporary.delete(this.id);
    this.#made.delete(this.id);
  }

  /** Deletes the temporary conversations that were made here and not kept. */
  async deleteTemporary(): Promise<void> {
    for (const id of this.#made) {
      await deleteTemporary(this.client, id);
      this.#made.delete(id);
    }
  }

  /** Sends a message. While a turn runs it steers that turn, or waits for the next one. */
  async say(text: string, ifBusy: QueueMode): Promise<"sent" | "queued"> {
    const { model, effort } = this.choices;
    const temporary = this.isTemporary ? true : undefined;
    if (temporary) this.#made.add(this.id);
    const chosen = omitUndefined({ model, reasoningEffort: effort, temporary });
    const messageId = this.#ids.next();
    const files = this.attached;
    this.attached = [];
    try {
      const { outcome } = await this.#handle.send(text, {
        ifBusy,
        messageId,
        ...(files.length > 0 ? { files } : {}),
        ...chosen,
      });
      return outcome === "started" ? "sent" : "queued";
    } catch (error) {
      // The text goes back to where it was typed, with the error, and the files to where they were attached.
      this.#handle.cancel(messageId);
      this.attached = [...files, ...this.attached];
      throw error;
    }
  }

  stop(): Promise<{ readonly abortedTurn: boolean }> {
    return this.#handle.stop();
  }

  resumeQueue(): Promise<unknown> {
    return this.#handle.resumeQueue();
  }

  removeQueued(messageId: string): Promise<unknown> {
    return this.#handle.removeQueued(messageId);
  }

  /** True if the server knows the conversation, once that is certain: its first message creates it. */
  async exists(): Promise<boolean> {
    const handle = this.#handle;
    if (handle.getState().phase === "loading") {
      await new Promise<void>((resolve) => {
        const stop = handle.subscribe(() => {
          if (handle.getState().phase === "loading") return;
          stop();
          resolve();
        });
      });
    }
    return handle.getState().meta !== undefined;
  }

  leave(): void {
    this.#stopListening();
    this.#handle.release();
    this.connection.close();
  }
}
