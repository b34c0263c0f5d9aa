import { isParleyError, type ParleyError } from "@parley/core/errors";
import type { ConversationMessage, MessageContentPart, MessageRole } from "@parley/core/messages";
import type {
  AdmitInput,
  AdmitOutcome,
  CommitResult,
  HistoryEntry,
  JournalBatch,
  LogNumber,
  LogStore,
  LogStoreRoot,
  NextTurn,
  OpenedTurn,
  ProviderCallRecord,
  SealResult,
  SearchHit,
  TurnChoices,
} from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { QueueMode, StepId, StepMetrics, TurnMetrics, TurnReason } from "@parley/wire";
import { check, checkEqual, checkRejects } from "../contract-case.js";

/** Store that a case of the store's contract runs on. */
export interface LogStoreFixture {
  readonly root: LogStoreRoot;
  /** Another handle on the same database, as a second node has it. Without one, cases use `root` for both. */
  readonly second?: LogStoreRoot;
  /** Advances the store's own time: moves its clock, or waits. */
  advance(ms: number): void | Promise<void>;
  /** Begins the presence of a process, as `Wake.presence` has it. Absent if nothing shows that a process runs. */
  beginPresence?(): Promise<HeldPresence>;
  /** Called after the case. */
  close?(): Promise<void>;
}

/** A presence that a case holds. */
export interface HeldPresence {
  readonly token: string;
  end(): Promise<void>;
}

/** One guarantee, before it knows its store. */
export interface TopicCase {
  readonly name: string;
  /** True if two handles on one database compete. */
  readonly twoHandles?: boolean;
  run(scenario: Scenario): Promise<void>;
}

/** A turn that a case holds. */
export interface HeldTurn {
  readonly conversationId: string;
  readonly turnId: string;
  readonly fence: number;
}

/** A turn that a case holds and writes the journal of. */
export interface JournaledTurn extends HeldTurn {
  readonly log: LogNumber;
  readonly owner: string;
}

/** Options of a case's message. Missing ones are generated. */
export interface Sending {
  readonly text?: string;
  readonly messageId?: string;
  readonly message?: ConversationMessage;
  readonly bodyHash?: string;
  readonly ifBusy?: "reject" | "queue";
  readonly mode?: QueueMode;
  readonly choices?: TurnChoices;
  readonly turnId?: string;
  readonly node?: string;
  readonly queueLength?: number;
  readonly title?: string;
  readonly settings?: AdmitInput["settings"];
  readonly defaultModel?: string;
  /** Through this handle instead of the first. */
  readonly through?: LogStoreRoot;
}

/** A lifetime that no case outlives, however slow the store is. */
const longTtlMs = 600_000;

/**
 * Environment of one case: an owner and a living node of its own, fresh ids, and short methods for common actions.
 */
export class Scenario {
  readonly owner = `owner-${uniqueId()}`;
  readonly node = `node-${uniqueId()}`;
  readonly root: LogStoreRoot;
  readonly second: LogStoreRoot;
  readonly store: LogStore;
  readonly otherStore: LogStore;
  readonly #fixture: LogStoreFixture;

  private constructor(fixture: LogStoreFixture) {
    this.#fixture = fixture;
    this.root = fixture.root;
    this.second = fixture.second ?? fixture.root;
    this.store = this.root.forOwner(this.owner);
    this.otherStore = this.second.forOwner(this.owner);
  }

  static async begin(fixture: LogStoreFixture): Promise<Scenario> {
    const scenario = new Scenario(fixture);
    await scenario.root.heartbeat(scenario.node, longTtlMs);
    return scenario;
  }

  /** Removes what the case made, so that none of its leases affects the next case on the same database. */
  async end(): Promise<void> {
    const { conversations } = await this.store.list({ limit: 1_000 });
    for (const { id } of conversations) await this.store.remove(id, { cascade: true });
    for (const { id } of await this.store.webhooks()) await this.store.removeWebhook(id);
    await this.root.retire(this.node);
  }

  async advance(ms: number): Promise<void> {
    await this.#fixture.advance(ms);
  }

  /** Begins the presence of a process, if the store can see one. */
  async beginPresence(): Promise<HeldPresence | undefined> {
    return this.#fixture.beginPresence?.();
  }

  /** Starts a second living node. */
  async otherNode(): Promise<string> {
    const node = `node-${uniqueId()}`;
    await this.root.heartbeat(node, longTtlMs);
    return node;
  }

  send(conversationId: string, sending: Sending = {}): Promise<AdmitOutcome> {
    const store = (sending.through ?? this.root).forOwner(this.owner);
    return store.admit(this.admission(conversationId, sending));
  }

  admission(conversationId: string, sending: Sending = {}): AdmitInput {
    const text = sending.text ?? "Hello";
    const id = sending.messageId ?? uniqueId();
    return {
      node: sending.node ?? this.node,
      conversationId,
      ...omitUndefined({ settings: sending.settings }),
      message: sending.message ?? message(conversationId, { id, text }),
      bodyHash: sending.bodyHash ?? `hash of ${text}`,
      ifBusy: sending.ifBusy ?? "queue",
      mode: sending.mode ?? "steer",
      choices: sending.choices ?? {},
      turnId: sending.turnId ?? uniqueId(),
      queueLength: sending.queueLength ?? 1_000,
      title: sending.title ?? "A title",
      ...omitUndefined({ defaultModel: sending.defaultModel }),
    };
  }

  /** Sends to an idle conversation, a new one unless named, and holds the turn. */
  async start(
    conversationId: string = uniqueId(),
    sending: Sending = {},
  ): Promise<JournaledTurn & OpenedTurn> {
    const outcome = await this.send(conversationId, sending);
    check(outcome.kind === "started", `the message opens a turn, but it was ${outcome.kind}`);
    return { ...outcome.turn, conversationId, owner: this.owner };
  }

  /** Sends to a busy conversation and returns the message's id. */
  async enqueue(conversationId: string, sending: Sending = {}): Promise<string> {
    const messageId = sending.messageId ?? uniqueId();
    const outcome = await this.send(conversationId, { ...sending, messageId });
    checkEqual(outcome.kind, "queued", "what happens to a message while a turn runs");
    return messageId;
  }

  commit(
    turn: HeldTurn,
    messages: readonly ConversationMessage[],
    options: {
      readonly promoteSteers?: boolean;
      readonly stepId?: string;
      readonly steps?: StepMetrics[];
      readonly providerCalls?: ProviderCallRecord[];
      readonly through?: LogStore;
    } = {},
  ): Promise<CommitResult> {
    return (options.through ?? this.store).commitStep({
      ...heldTurn(turn),
      stepId: options.stepId ?? `${turn.turnId}.0`,
      messages: [...messages],
      promoteSteers: options.promoteSteers ?? false,
      steps: options.steps ?? [],
      providerCalls: options.providerCalls ?? [],
    });
  }

  seal(
    turn: HeldTurn,
    messages: readonly ConversationMessage[] = [],
    options: {
      readonly next?: Partial<NextTurn>;
      readonly reason?: TurnReason;
      readonly metrics?: Partial<TurnMetrics>;
      readonly providerCalls?: ProviderCallRecord[];
      readonly through?: LogStore;
    } = {},
  ): Promise<SealResult> {
    return (options.through ?? this.store).seal({
      ...heldTurn(turn),
      messages: [...messages],
      stepId: `${turn.turnId}.0`,
      reason: options.reason ?? "stop",
      metrics: turnMetrics(turn.turnId, options.metrics),
      providerCalls: options.providerCalls ?? [],
      next: this.next(options.next),
    });
  }

  next(next: Partial<NextTurn> = {}): NextTurn {
    return { node: this.node, turnId: uniqueId(), pauseQueue: false, openNext: true, ...next };
  }

  /** Runs a whole turn: a question of one part, an answer of one part. Returns its end. */
  async turn(conversationId: string = uniqueId(), text = "Hello"): Promise<HeldTurn & { lastSeq: number }> {
    const turn = await this.start(conversationId, { text });
    const answer = message(conversationId, { role: "assistant", text: `Answer to ${text}` });
    const { lastSeq } = await this.seal(turn, [answer]);
    return { ...heldTurn(turn), lastSeq };
  }

  /** Returns everything in the log, oldest first, read page by page. */
  async log(conversationId: string, store: LogStore = this.store): Promise<HistoryEntry[]> {
    const entries: HistoryEntry[] = [];
    let before: number | undefined;
    do {
      const page = await store.readNewest({
        conversationId,
        limit: 7,
        ...omitUndefined({ before }),
      });
      entries.push(...page.entries);
      check(page.before === undefined || page.before < (before ?? Infinity), "a page leads to an older one");
      before = page.before;
    } while (before !== undefined);
    return entries.reverse();
  }

  /**
   * Returns the log's texts, oldest first, and checks that seqs run from 1 without a gap to the record's last one.
   */
  async texts(conversationId: string, store: LogStore = this.store): Promise<string[]> {
    const entries = await this.log(conversationId, store);
    let expected = 1;
    for (const entry of entries) {
      checkEqual(entry.firstSeq, expected, "a message's first seq");
      check((entry.lastSeq ?? 0) >= expected, "a message has at least one seq");
      expected = (entry.lastSeq ?? 0) + 1;
    }
    const record = await store.get(conversationId);
    checkEqual(record?.lastSeq, expected - 1, "the last seq");
    return entries.map((entry) => textIn(entry.message));
  }

  /** Adds all that this case has written to the search index, a few messages at a time, and returns their number. */
  async index(limit = 3): Promise<number> {
    let total = 0;
    for (let call = 0; ; call++) {
      check(call < 1_000, "the index is complete at some time");
      const { indexed, more } = await this.root.indexSearch({ owner: this.owner, limit });
      total += indexed;
      if (!more) return total;
    }
  }

  /** Returns the hits of a search, and checks that they are complete. */
  async found(
    q: string,
    query: { readonly limit?: number; readonly conversationId?: string } = {},
  ): Promise<SearchHit[]> {
    const { hits, partial } = await this.store.search({ q, limit: 50, ...query });
    checkEqual(partial, undefined, "whether the search was partial");
    return hits;
  }

  /** Claims until nothing is left, and returns what belonged to this case. */
  async claimMine(node: string, limit = 1_000): Promise<Awaited<ReturnType<LogStoreRoot["claimExpired"]>>> {
    const mine = [];
    for (let call = 0; ; call++) {
      check(call < 1_000, "what was claimed by a living node is not claimed again");
      const claimed = await this.root.claimExpired(node, limit);
      check(claimed.length <= limit, "no more leases than asked for");
      mine.push(...claimed.filter((lease) => lease.owner === this.owner));
      if (claimed.length === 0) return mine;
    }
  }
}

/** Returns the ids of conversations, sorted. */
export function idsOf(conversations: readonly { readonly id: string }[]): string[] {
  return conversations.map(({ id }) => id).sort();
}

export function uniqueId(): string {
  return crypto.randomUUID();
}

/** Returns the three fields that a write of a turn carries. */
export function heldTurn(turn: HeldTurn): HeldTurn {
  return { conversationId: turn.conversationId, turnId: turn.turnId, fence: turn.fence };
}

export function message(
  conversationId: string,
  given: {
    readonly id?: string;
    readonly role?: MessageRole;
    readonly text?: string;
    readonly content?: MessageContentPart[];
    readonly createdAt?: Date;
  } = {},
): ConversationMessage {
  return {
    id: given.id ?? uniqueId(),
    conversationId,
    role: given.role ?? "user",
    createdAt: given.createdAt ?? new Date(1_700_000_000_123),
    content: given.content ?? [{ type: "text", text: given.text ?? "Hello" }],
  };
}

/** Makes an assistant message that calls a tool, in text and call: two parts. */
export function callingMessage(conversationId: string, toolCallId: string): ConversationMessage {
  return message(conversationId, {
    role: "assistant",
    content: [
      { type: "text", text: "I look it up" },
      {
        type: "tool-call",
        name: "weather",
        arguments: { city: "Oslo" },
        argumentsText: '{"city": "Oslo"}',
        toolCallId,
      },
    ],
  });
}

export function resultMessage(conversationId: string, toolCallId: string): ConversationMessage {
  return message(conversationId, {
    role: "tool",
    content: [{ type: "tool-result", name: "weather", result: "4", resultText: "4", toolCallId }],
  });
}

/** Returns the text of a message, whatever its parts are. */
function textIn(said: ConversationMessage): string {
  return said.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join(" ");
}

export function textsOf(entries: readonly HistoryEntry[]): string[] {
  return entries.map((entry) => textIn(entry.message));
}

export function seqsOf(entries: readonly HistoryEntry[]): (number | undefined)[][] {
  return entries.map((entry) => [entry.firstSeq, entry.lastSeq]);
}

export function stepMetrics(turnId: string, index: number): StepMetrics {
  return {
    stepId: `${turnId}.${index}` as StepId,
    usage: { inputTokens: 100 + index, outputTokens: 10 },
    ttftMs: 12.5,
    decodeMs: 7.5,
    genTotalMs: 20,
    model: "credential/model",
  };
}

export function turnMetrics(turnId: string, given: Partial<TurnMetrics> = {}): TurnMetrics {
  return {
    turnId,
    usage: { inputTokens: 100, outputTokens: 10 },
    durationMs: 33,
    steps: [stepMetrics(turnId, 0)],
    ...given,
  };
}

export function providerCall(given: Partial<ProviderCallRecord> = {}): ProviderCallRecord {
  return {
    id: uniqueId(),
    createdAt: new Date(1_700_000_000_456),
    startedAt: new Date(1_700_000_000_123),
    metadata: { provider: "provider", model: "model" },
    usage: { inputTokens: 100, outputTokens: 10 },
    finishReason: "stop",
    ...given,
  };
}

export function batch(
  { log, owner, turnId, fence }: JournaledTurn,
  firstN: number,
  data = `events from ${firstN}`,
  count = 2,
): JournalBatch {
  return { log, owner, turnId, fence, firstN, count, data };
}

/** Waits for a refusal and checks that it has this code. Returns the refusal. */
export async function refused(promise: Promise<unknown>, code: string, what: string): Promise<ParleyError> {
  const error = await checkRejects(promise, what);
  check(isParleyError(error), `${what}: expected a ParleyError, got ${String(error)}`);
  checkEqual(error.code, code, `${what}: the code of the refusal`);
  return error;
}

/** Returns the outcome of a call that may be refused: its value, or the code. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<{ value: T } | { code: string }> {
  try {
    return { value: await promise };
  } catch (error) {
    if (!isParleyError(error)) throw error;
    return { code: error.code };
  }
}
