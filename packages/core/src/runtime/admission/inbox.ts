import { omitUndefined } from "@parley/fold";
import type { CallerTool, IfBusy, ReasoningEffort, SentPart, WhenWaiting } from "@parley/wire";
import { invalidField, isParleyError, ParleyError } from "../../errors.js";
import { type ConversationMessage, type MessageRole, textOf } from "../../messages/message.js";
import type { MessageContentPart } from "../../messages/part.js";
import { chainHash, hashText } from "../../messages/text/hash.js";
import { titleFrom, titleOfName } from "../../messages/text/title.js";
import { utf8Length } from "../../messages/tokens/transcript-tokens.js";
import { checkPlain } from "../../plain-data.js";
import type {
  AdmitInput,
  AdmitOutcome,
  ConversationSettings,
  QueueState,
  CallerTool as StoredTool,
  TurnChoices,
  TurnOutputChoice,
} from "../../ports/log-store.js";
import type { Uses } from "../environment.js";
import { checkedTools } from "../input/caller-tools.js";
import { admitOverWaiting } from "../input/end-waiting-turn.js";
import { defaultModelOf } from "../models.js";
import type { Recovery } from "../nodes/recovery.js";
import type { Coordinator } from "../turns/coordinator.js";
import { checkedOutput, type OutputInput } from "./checked-output.js";
import { resolveParts, storeContent } from "./sent-parts.js";

/** The parts of the environment that admission uses. */
export type InboxUses = Uses<
  "clock" | "fileLimits" | "identity" | "ids" | "limits" | "models" | "notifyChanged" | "root" | "toolsOf"
>;

/** A message that a client sends. */
export interface SendInput {
  /** An unknown id is created. Absent: one derived from owner and message id. */
  readonly conversationId?: string | undefined;
  /** The client's own id, for retries. Absent: a new one, so that a retry is a new message. */
  readonly messageId?: string | undefined;
  /** Text, or parts if a message holds more than text. */
  readonly message: string | readonly MessageContentPart[];
  /** More text, and files of the owner, after the message, which may then be empty. */
  readonly parts?: readonly SentPart[] | undefined;
  readonly model?: string | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  readonly instructions?: string | undefined;
  /** While a turn runs: refuse with `turn_active` (the default), or wait in the queue in this mode. */
  readonly ifBusy?: IfBusy | undefined;
  /** While a turn waits for input: follow `ifBusy` (the default), or end that turn and open one with the message. */
  readonly whenWaiting?: WhenWaiting | undefined;
  /** Tools of the caller, for the turn that the message opens: a call of one waits for the output. */
  readonly tools?: readonly CallerTool[] | undefined;
  /**
   * Messages that come before it, from another log: written in the same transaction, outside turns. With them the
   * message itself may be empty, if they end with something to answer. Not together with `ifBusy`.
   */
  readonly before?: readonly ExternalMessage[] | undefined;
  /** Written when the conversation is unknown. */
  readonly settings?: Pick<ConversationSettings, "title" | "metadata"> | undefined;
  /** Makes the conversation temporary if the message creates it; has no effect on an existing one. */
  readonly temporary?: boolean | undefined;
  /** Names of the node's own tools that the turn is offered. Default: all of them. */
  readonly toolNames?: readonly string[] | undefined;
  /** Maximum number of tokens of one answer, if that is less than the model's own limit. */
  readonly maxOutputTokens?: number | undefined;
  /** Data that the turn which the message opens has to return. */
  readonly output?: OutputInput | undefined;
  /** Kept with the turn for the sender of the message. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A message of another log. */
export interface ExternalMessage {
  /** Default: one derived from the id of the message after it. */
  readonly id?: string | undefined;
  readonly role: MessageRole;
  readonly content: readonly MessageContentPart[];
}

/** The result of a send. A caller that holds one knows that the message is durable. */
export interface Receipt {
  readonly conversationId: string;
  readonly messageId: string;
  readonly outcome: "started" | "queued";
  /** The turn that the message opened, or was steered into. Absent while it waits. */
  readonly turnId?: string;
  /** True if the same message had been sent before. */
  readonly repeated: boolean;
  readonly queue?: QueueState;
}

/** Not one or two dots alone: in an address they name a folder, so such a conversation could not be addressed. */
const idPattern = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/;

/** Refuses a value that cannot be an id. */
export function checkId(name: string, id: string): string {
  if (idPattern.test(id)) return id;
  throw invalidField(name, "1 to 128 of the characters A-Z a-z 0-9 . _ : -, and not . or .. alone");
}

/** Returns the id of a conversation that a message opens without naming one: the same for every retry. */
export function derivedConversationId(owner: string, messageId: string): string {
  return derivedId(owner, messageId);
}

/** Returns the id of the message that a fork begins with, if it was given none: the same for every retry. */
export function derivedMessageId(owner: string, conversationId: string): string {
  return derivedId(owner, conversationId);
}

/** A hash in the form of all other ids that Parley makes: a UUID, of version 8, which is for values like this. */
function derivedId(owner: string, from: string): string {
  const first = chainHash(hashText(owner), from);
  const digits = `${first}${chainHash(first, from)}`;
  const groups = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`];
  return [...groups, `8${digits.slice(17, 20)}`, digits.slice(20, 32)].join("-");
}

/**
 * Admits what clients send: one transaction that writes the receipt together with the user's row and the new turn, or
 * with an entry in the queue. An admitted message is never lost; a refused one leaves no trace. If the store's answer
 * is lost, the caller is informed that the outcome is unknown and may send the same again, and the node finds out by
 * itself if it now holds a turn.
 */
export class Inbox {
  readonly #env: InboxUses;
  readonly #coordinator: Coordinator;
  readonly #recovery: Pick<Recovery, "resolveUnknown">;
  /** Admissions in progress, by owner: each may become a running turn. */
  readonly #admitting = new Map<string, number>();

  constructor(env: InboxUses, coordinator: Coordinator, recovery: Pick<Recovery, "resolveUnknown">) {
    this.#env = env;
    this.#coordinator = coordinator;
    this.#recovery = recovery;
  }

  async send(owner: string, input: SendInput): Promise<Receipt> {
    const store = this.#env.root.forOwner(owner);
    const admission = await this.ready(owner, input).catch(async (refusal: unknown) => {
      const known = input.parts === undefined ? undefined : await this.#repeated(owner, input);
      if (known === undefined) throw refusal;
      return known;
    });
    if ("repeated" in admission) return admission;
    const { conversationId } = admission;
    const { message, ifBusy, turnId } = admission;
    const refusal = this.#refusal(owner);
    if (refusal !== undefined) {
      // A full node still admits what needs no turn of its own: messages it has admitted before, and those that will
      // wait.
      const isKnown = (await store.findReceipt(conversationId, message.id)) !== null;
      const waits = !isKnown && ifBusy === "queue" && (await store.get(conversationId))?.active !== undefined;
      if (!isKnown && !waits) throw refusal;
    }
    const outcome = await this.opening(owner, conversationId, turnId, () =>
      input.whenWaiting === "deny"
        ? admitOverWaiting(store, admission, new Date(this.#env.clock.now()))
        : store.admit(admission),
    );
    return this.settle(owner, conversationId, message.id, outcome);
  }

  /** Returns the receipt of a message that was sent before, and whose uploads have expired since. */
  async #repeated(owner: string, { conversationId, messageId }: SendInput): Promise<Receipt | undefined> {
    if (messageId === undefined) return undefined;
    const id = conversationId ?? derivedConversationId(owner, messageId);
    const known = await this.#env.root.forOwner(owner).findReceipt(id, messageId);
    return known === null ? undefined : { conversationId: id, messageId, ...known, repeated: true };
  }

  /** Returns true if this node has capacity for one more turn. */
  hasCapacity(owner: string): boolean {
    return this.#refusal(owner) === undefined;
  }

  /** Refuses if this node has no capacity for one more turn. */
  checkCapacity(owner: string): void {
    const refusal = this.#refusal(owner);
    if (refusal !== undefined) throw refusal;
  }

  /** Makes a call that may open a turn: counted from before it, so that a burst cannot exceed the limit. */
  async opening<T>(
    owner: string,
    conversationId: string,
    turnId: string,
    call: () => Promise<T>,
  ): Promise<T> {
    this.#admitting.set(owner, (this.#admitting.get(owner) ?? 0) + 1);
    try {
      return await call();
    } catch (error) {
      if (isParleyError(error) && error.code === "store_unavailable") {
        this.#recovery.resolveUnknown(owner, conversationId, turnId);
      }
      throw error;
    } finally {
      const left = (this.#admitting.get(owner) ?? 1) - 1;
      if (left === 0) this.#admitting.delete(owner);
      else this.#admitting.set(owner, left);
    }
  }

  #refusal(owner: string): ParleyError | undefined {
    const { runningTurns, runningTurnsPerOwner } = this.#env.limits;
    let admitting = 0;
    for (const count of this.#admitting.values()) admitting += count;
    if (this.#coordinator.size + admitting >= runningTurns) {
      return new ParleyError("limit_exceeded", `This node runs ${runningTurns} turns already (runningTurns)`);
    }
    if (this.#coordinator.sizeOf(owner) + (this.#admitting.get(owner) ?? 0) >= runningTurnsPerOwner) {
      return new ParleyError(
        "limit_exceeded",
        `${runningTurnsPerOwner} turns of this owner run already (runningTurnsPerOwner)`,
      );
    }
    return undefined;
  }

  /** Finds the files that a message names, and prepares it. */
  async ready(owner: string, input: SendInput): Promise<AdmitInput> {
    const given = await this.#withStoredFiles(owner, input);
    const { parts } = given;
    if (parts === undefined || parts.length === 0) return this.#prepare(owner, given, []);
    this.checkReady(owner);
    checkPlain(parts, "parts");
    const store = this.#env.root.forOwner(owner);
    return this.#prepare(owner, given, await resolveParts(store, parts, this.#env.fileLimits));
  }

  /** Stores files that come with their bytes. References to them are hashed and kept. */
  async #withStoredFiles(owner: string, input: SendInput): Promise<SendInput> {
    const { message, before } = input;
    const isPlainText = typeof message === "string" && before === undefined;
    if (isPlainText) return input;
    this.checkReady(owner);
    return {
      ...input,
      message: typeof message === "string" ? message : await this.#stored(owner, message),
      ...(before === undefined ? {} : { before: await this.storedMessages(owner, before) }),
    };
  }

  /** Stores the files of messages of another log. */
  storedMessages(owner: string, given: readonly ExternalMessage[]): Promise<ExternalMessage[]> {
    return Promise.all(
      given.map(async (message) => ({ ...message, content: await this.#stored(owner, message.content) })),
    );
  }

  #stored(owner: string, content: readonly MessageContentPart[]): Promise<readonly MessageContentPart[]> {
    return storeContent(this.#env.root.forOwner(owner), content, this.#env.fileLimits);
  }

  /** Checks everything that can be refused before the message is admitted. `more` are its parts, with their files. */
  #prepare(owner: string, input: SendInput, more: readonly MessageContentPart[]): AdmitInput {
    const { clock, ids, identity, limits, models } = this.#env;
    this.checkReady(owner);
    const tools = this.#toolsOf(owner, input);
    const output = this.#outputOf(input);
    const metadata = this.#metadataOf(input);
    const messageId = input.messageId === undefined ? ids.next() : checkId("messageId", input.messageId);
    const conversationId =
      input.conversationId === undefined
        ? derivedConversationId(owner, messageId)
        : checkId("conversationId", input.conversationId);
    const before = this.#beforeOf(input, conversationId, messageId);
    const given = contentOf(input.message, before !== undefined, more);
    checkPlain(given, "message");
    // Written once, for the size and for the hash. Files appear in it as they were named: a retry names them the same
    // way.
    const contentText = JSON.stringify([...given, ...(input.parts ?? [])]);
    this.#checkText("message", contentText);
    const content = [...given, ...more];
    const choices: TurnChoices = {
      ...(input.model === undefined ? {} : { model: models.resolve(input.model).name }),
      ...omitUndefined({ reasoningEffort: input.reasoningEffort, instructions: input.instructions }),
      ...omitUndefined({ tools, output, metadata, maxOutputTokens: input.maxOutputTokens }),
      ...(input.toolNames === undefined ? {} : { toolNames: [...input.toolNames] }),
    };
    const message: ConversationMessage = {
      id: messageId,
      conversationId,
      role: "user",
      createdAt: new Date(clock.now()),
      content,
    };
    const { ifBusy = "reject" } = input;
    return {
      conversationId,
      node: identity.node,
      message,
      bodyHash: hashText(`[${contentText},${JSON.stringify(choices)}${hashedBefore(before)}]`),
      ...omitUndefined({ before, settings: newSettings(input) }),
      ifBusy: ifBusy === "reject" ? "reject" : "queue",
      mode: ifBusy === "queue" ? "queue" : "steer",
      choices,
      turnId: ids.next(),
      queueLength: limits.queueLength,
      title:
        titleFrom(textOf(message) || textOf(before?.findLast(({ role }) => role === "user") ?? message)) ||
        titleOfName(fileNameIn(content)),
      ...defaultModelOf(models),
    };
  }

  #beforeOf(
    { before, ifBusy = "reject" }: SendInput,
    conversationId: string,
    messageId: string,
  ): ConversationMessage[] | undefined {
    if (before === undefined || before.length === 0) return undefined;
    if (ifBusy !== "reject") throw invalidField("before", "messages of another log cannot wait in the queue");
    return this.externalMessages(before, conversationId, messageId);
  }

  /** Copies messages of another log, or refuses them; those without an id get one derived from `prefix`. */
  externalMessages(
    given: readonly ExternalMessage[],
    conversationId: string,
    prefix: string,
  ): ConversationMessage[] {
    checkPlain(given, "messages");
    for (const [index, { content }] of given.entries()) {
      this.#checkText(`messages.${index}`, JSON.stringify(content.map(withoutBytes)));
    }
    const createdAt = new Date(this.#env.clock.now());
    return given.map(({ id, role, content }, index) => ({
      id: id === undefined ? `${prefix}.${index}` : checkId(`messages.${index}.id`, id),
      conversationId,
      role,
      createdAt,
      content: content.map((part) => ({ ...part })),
    }));
  }

  #toolsOf(owner: string, { tools, ifBusy }: SendInput): StoredTool[] | undefined {
    if (tools === undefined) return undefined;
    if (ifBusy === "steer") throw invalidField("tools", "a message that joins a running turn brings none");
    const checked = checkedTools(tools, this.#env.toolsOf(owner));
    this.#checkText("tools", JSON.stringify(checked));
    return checked;
  }

  #outputOf({ output, ifBusy }: SendInput): TurnOutputChoice | undefined {
    if (output === undefined) return undefined;
    if (ifBusy === "steer") throw invalidField("output", "a message that joins a running turn asks for none");
    const checked = checkedOutput(output);
    this.#checkText("output", JSON.stringify(checked));
    return checked;
  }

  #metadataOf({ metadata }: SendInput): Record<string, unknown> | undefined {
    if (metadata === undefined) return undefined;
    checkPlain(metadata, "metadata");
    this.#checkText("metadata", JSON.stringify(metadata));
    return structuredClone(metadata);
  }

  /** Refuses while this node accepts no work: because it shuts down, or has lost contact with the store. */
  checkReady(owner: string): void {
    if (this.#coordinator.draining) throw new ParleyError("draining");
    if (!this.#coordinator.alive(owner)) throw new ParleyError("store_unavailable");
  }

  /** Starts the turn that an admission opened, and returns the receipt. */
  settle(owner: string, conversationId: string, messageId: string, outcome: AdmitOutcome): Receipt {
    if (outcome.kind === "known") {
      const { outcome: before, turnId } = outcome;
      const known = { conversationId, messageId, outcome: before, repeated: true };
      return turnId === undefined ? known : { ...known, turnId };
    }
    if (outcome.kind === "started") {
      const { turnId } = outcome.turn;
      const { ended } = outcome;
      if (ended !== undefined) {
        const turn = { owner, conversationId, log: outcome.turn.log, turnId: ended.turnId };
        this.#coordinator.afterSeal(turn, "aborted", ended.sealed);
      }
      this.#coordinator.run(owner, conversationId, outcome.turn);
      return { conversationId, messageId, outcome: "started", turnId, repeated: false };
    }
    this.#env.notifyChanged(owner, [outcome.log]);
    return { conversationId, messageId, outcome: "queued", repeated: false, queue: outcome.queue };
  }

  /** Refuses parts that are larger than a message may be. */
  checkSize(name: string, parts: readonly MessageContentPart[]): void {
    checkPlain(parts, name);
    this.#checkText(name, JSON.stringify(parts));
  }

  #checkText(name: string, text: string): void {
    const limit = this.#env.limits.messageBytes;
    // A UTF-16 unit takes at most three bytes, so most messages need not be counted.
    if (text.length * 3 <= limit) return;
    const bytes = utf8Length(text);
    if (bytes <= limit) return;
    throw new ParleyError(
      "too_large",
      `${name}: ${bytes} bytes are more than the limit of ${limit} (messageBytes)`,
      {
        details: { bytes, limit },
      },
    );
  }
}

/** Returns the settings of the conversation, if the message creates one. */
function newSettings({ settings, temporary }: SendInput): ConversationSettings | undefined {
  return temporary === true ? { ...settings, temporary } : settings;
}

function hashedBefore(before: readonly ConversationMessage[] | undefined): string {
  return before === undefined ? "" : `,${JSON.stringify(before.map(({ role, content }) => [role, content]))}`;
}

/** Part of an empty message, which asks for an answer to the messages before it. Models are not shown it. */
const nothingSaid: MessageContentPart = { type: "metadata", data: { type: "continue" } };

/** Returns the name of the first file, for a message without other content. */
function fileNameIn(content: readonly MessageContentPart[]): string {
  for (const part of content) if (part.type === "file" && part.filename !== undefined) return part.filename;
  return "";
}

/** Returns the content of the message, which may be empty if there are other parts, or messages before it. */
function contentOf(
  message: SendInput["message"],
  mayBeEmpty: boolean,
  more: readonly MessageContentPart[],
): MessageContentPart[] {
  if (message === "" && mayBeEmpty && more.length === 0) return [{ ...nothingSaid }];
  const parts: MessageContentPart[] =
    typeof message === "string" ? [{ type: "text", text: message }] : message.map((part) => ({ ...part }));
  if (![...parts, ...more].every(isBlank)) return more.length > 0 && parts.every(isBlank) ? [] : parts;
  throw invalidField("message", "must not be empty");
}

function isBlank(part: MessageContentPart): boolean {
  return part.type === "text" && part.text.trim() === "";
}

/** Returns a part as it counts for the size of its message: the bytes of a file have their own limit. */
function withoutBytes(part: MessageContentPart): object {
  return part.type === "file" && "data" in part ? { ...part, data: "" } : part;
}
