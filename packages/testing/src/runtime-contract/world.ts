import type { Clock } from "@parley/core";
import { isParleyError, type ParleyError } from "@parley/core/errors";
import type { LogStore, LogStoreRoot, Wake } from "@parley/core/ports";
import type {
  JournalPace,
  LeasePace,
  ModelBinding,
  OwnerRuntime,
  Receipt,
  Runtime,
  RuntimeOptions,
  SendInput,
} from "@parley/core/runtime";
import { createModelCatalog, createRuntime, defaultLeasePace } from "@parley/core/runtime";
import { omitUndefined } from "@parley/fold";
import type { AgentEvent, StoredChunk } from "@parley/wire";
import { ContractViolation, check, checkEqual, checkRejects } from "../contract-case.js";
import { checkEventOrder } from "../event-order.js";
import { createFaultyStore, type StoreFaults } from "../memory-log/faulty-store.js";
import { type ScriptEntry, text } from "../provider/script.js";
import {
  createScriptedProvider,
  type ScriptedProvider,
  type ScriptSource,
} from "../provider/scripted-provider.js";
import { Follow } from "./follow.js";

/** Environment of the cases of the runtime's contract. */
export interface RuntimeFixture {
  readonly store: LogStoreRoot;
  /** Wake-ups between nodes on this store. */
  readonly wake?: Wake;
  /** Opens another handle on the same database, as a second node has it. Without it, nodes share the first one. */
  openSecond?(): Promise<{ readonly store: LogStoreRoot; readonly wake?: Wake }>;
  /** The time of the nodes. Default: the machine's. */
  readonly clock?: Clock;
  /** Advances the time, for the nodes and for the store: moves a clock, or waits. */
  advance(ms: number): Promise<void>;
  /** Intervals of the nodes' leases: short if time is real. */
  readonly lease?: Partial<LeasePace>;
  readonly journal?: Partial<JournalPace>;
  /** Called after all nodes of a case are closed: returns descriptions of what they have left behind. */
  leaks?(): string[];
  close(): Promise<void>;
}

/** One guarantee, before it knows its store. */
export interface RuntimeTopicCase {
  readonly name: string;
  run(world: World): Promise<void>;
}

/** Options of a case's node. Missing ones have a default. */
export type NodeOptions = Partial<Omit<RuntimeOptions, "store" | "wake" | "models" | "clock">> & {
  /** The model's answers. Default: "Hello." to everything. */
  readonly script?: ScriptSource;
  readonly provider?: ScriptedProvider;
  /** Beside `test/one`. */
  readonly moreModels?: readonly ModelBinding[];
  /** Default `test/one`. */
  readonly defaultModel?: string;
  readonly contextWindow?: number;
  /** True if the node receives no wake-ups and sends none: it learns what others do only by polling. */
  readonly withoutWake?: boolean;
};

/** A node with the owner of the case, and its failures in the background. */
export interface TestNode {
  readonly runtime: Runtime;
  readonly me: OwnerRuntime;
  readonly provider: ScriptedProvider;
  readonly faults: StoreFaults;
  readonly errors: { readonly error: ParleyError; readonly where: string }[];
  follow(conversationId: string, cursor?: string): Follow;
}

/** Environment of one case: nodes on one store, an owner of its own, and time that passes only when needed. */
export class World {
  readonly owner = `owner-${uniqueId()}`;
  readonly lease: LeasePace;
  readonly #fixture: RuntimeFixture;
  readonly #nodes: TestNode[] = [];
  readonly #follows: Follow[] = [];
  #passed = 0;

  constructor(fixture: RuntimeFixture) {
    this.#fixture = fixture;
    this.lease = { ...defaultLeasePace, ...fixture.lease };
  }

  /** Returns a new id, for a conversation, a message or another owner. */
  id(prefix = "id"): string {
    return `${prefix}-${uniqueId()}`;
  }

  /** Returns an owner's part of the store, as an engine or an agent beside the runtime writes to it. */
  store(owner: string): LogStore {
    return this.#fixture.store.forOwner(owner);
  }

  /** True if time passes by itself, at a rate that depends on the machine. */
  get isTimeReal(): boolean {
    return this.#fixture.clock === undefined;
  }

  /** Time that the case has let pass. */
  get passedMs(): number {
    return this.#passed;
  }

  async node(options: NodeOptions = {}): Promise<TestNode> {
    const {
      script,
      provider: given,
      moreModels = [],
      contextWindow,
      withoutWake,
      defaultModel,
      ...rest
    } = options;
    const isFirst = this.#nodes.length === 0;
    const fixture = this.#fixture;
    const handle = isFirst || fixture.openSecond === undefined ? fixture : await fixture.openSecond();
    const { store, faults } = createFaultyStore(handle.store);
    const provider = given ?? createScriptedProvider(script ?? [text("Hello.")]);
    const errors: TestNode["errors"] = [];
    const models = createModelCatalog(
      [testModel("one", provider, contextWindow === undefined ? {} : { contextWindow }), ...moreModels],
      defaultModel === undefined ? {} : { defaultModel },
    );
    const runtime = await this.pass(
      createRuntime({
        ...rest,
        store,
        models,
        lease: { ...fixture.lease, ...rest.lease },
        journal: { ...fixture.journal, ...rest.journal },
        hooks: {
          ...rest.hooks,
          onError(error, context) {
            errors.push({ error, where: context.where });
            rest.hooks?.onError?.(error, context);
          },
        },
        ...(handle.wake === undefined || withoutWake ? {} : { wake: handle.wake }),
        ...omitUndefined({ clock: fixture.clock }),
      }),
      "a node starts",
    );
    const me = runtime.forOwner(this.owner);
    const follow = (conversationId: string, cursor?: string) => {
      const following = new Follow(me, conversationId, cursor);
      this.#follows.push(following);
      return following;
    };
    const node: TestNode = { runtime, me, provider, faults, errors, follow };
    this.#nodes.push(node);
    return node;
  }

  /**
   * Connects a client that follows from a cursor on, by default from the beginning, and waits until it has joined.
   */
  async joined(node: TestNode, conversationId: string, cursor = "0"): Promise<Follow> {
    const follow = node.follow(conversationId, cursor);
    await this.until(() => follow.frames.length > 0 || follow.ended !== undefined, "a client joins");
    return follow;
  }

  /** Lets time pass. */
  async advance(ms: number): Promise<void> {
    this.#passed += ms;
    await this.#fixture.advance(ms);
  }

  /** Waits for a promise while time passes, up to a limit. */
  async pass<T>(promise: Promise<T>, what: string, withinMs = 60_000): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.until(() => isSettled, what, withinMs);
    return promise;
  }

  /** Waits until a condition is true while time passes, up to a limit. */
  async until(condition: () => boolean, what: string, withinMs = 60_000): Promise<void> {
    let stepMs = 0;
    // With real time, checking costs less than waiting too long.
    const mostMs = this.isTimeReal ? 8 : 50;
    for (let waited = 0; !condition(); waited += stepMs) {
      if (waited > withinMs) throw new ContractViolation(`${what}: not within ${withinMs} ms`);
      stepMs = Math.min(mostMs, stepMs * 2 + 1, Math.max(1, withinMs - waited));
      // A manual clock must not run ahead of work on other threads, such as signatures.
      if (!this.isTimeReal && waited > 100) await realMoment();
      await this.advance(waited === 0 ? 0 : stepMs);
    }
  }

  /** Sends, and returns the receipt of a message that opened a turn. */
  async start(
    node: TestNode,
    message: SendInput["message"] = "Hi",
    input: Partial<SendInput> = {},
  ): Promise<Receipt & { turnId: string }> {
    const receipt = await this.pass(node.me.send({ message, ...input }), "a send is answered");
    checkEqual(receipt.outcome, "started", "what a send to an idle conversation does");
    check(receipt.turnId !== undefined, "a receipt of a started message names its turn");
    return { ...receipt, turnId: receipt.turnId };
  }

  /** Returns all events of a turn, from its first one to `turn-sealed`; their order is checked. */
  async turnEvents(node: TestNode, conversationId: string, turnId: string): Promise<AgentEvent[]> {
    const events: AgentEvent[] = [];
    const read = async () => {
      for await (const { event } of node.me.events(conversationId, turnId)) events.push(event);
    };
    await this.pass(read(), `turn ${turnId} is read to its end`);
    checkEqual(checkEventOrder(events), [], "the order of a turn's events");
    checkEqual(events.at(-1)?.type, "turn-sealed", "the last event of a turn");
    return events;
  }

  /** Runs a whole turn: sends, waits for its seal, and returns its events. */
  async turn(
    node: TestNode,
    message: SendInput["message"] = "Hi",
    input: Partial<SendInput> = {},
  ): Promise<{ receipt: Receipt & { turnId: string }; events: AgentEvent[] }> {
    const receipt = await this.start(node, message, input);
    return { receipt, events: await this.turnEvents(node, receipt.conversationId, receipt.turnId) };
  }

  /** Waits until nothing runs in the conversation. */
  async idle(node: TestNode, conversationId: string): Promise<void> {
    let isIdle = false;
    const ask = async () => {
      for (;;) {
        const { activeTurn } = await node.me.meta(conversationId);
        if (activeTurn === undefined) break;
        await this.advance(10);
      }
      isIdle = true;
    };
    await ask();
    check(isIdle, "the conversation is idle");
  }

  /** Returns the sealed log, with its invariants checked: seqs without gaps, one result per call. */
  async log(node: TestNode, conversationId: string): Promise<readonly StoredChunk[]> {
    const { chunks } = await node.me.history({ conversationId });
    checkLog(chunks);
    return chunks;
  }

  /** Returns the code of a refusal. */
  async refusal(promise: Promise<unknown>, what: string): Promise<string> {
    const error = await this.pass(checkRejects(promise, what), what);
    check(isParleyError(error), `${what}: not a ParleyError but ${String(error)}`);
    return error.code;
  }

  /** Ends the nodes of a case that failed: they must not take over turns of later cases. */
  async abandon(): Promise<void> {
    for (const follow of this.#follows) follow.close();
    for (const { faults } of this.#nodes) faults.heal();
    const closing = Promise.all(this.#nodes.map(({ runtime }) => runtime.close().catch(() => {})));
    await this.pass(closing, "the nodes of a failed case close").catch(() => {});
  }

  /** Closes everything, and checks that nothing is left behind. */
  async end(): Promise<void> {
    for (const follow of this.#follows) follow.close();
    for (const { faults } of this.#nodes) faults.heal();
    for (const { runtime } of this.#nodes) await this.pass(runtime.close(), "a node closes");
    const store = this.store(this.owner);
    for (const { id } of await store.webhooks()) await store.removeWebhook(id);
    checkEqual(this.#fixture.leaks?.() ?? [], [], "what closed nodes leave behind");
  }
}

/** Waits for the shortest time of a real timer. */
function realMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** Returns a model of the test's credential. */
export function testModel(
  model: string,
  provider: ScriptedProvider,
  more: Partial<ModelBinding> = {},
): ModelBinding {
  return { name: `test/${model}`, provider, providerName: "test", model, contextWindow: 100_000, ...more };
}

/** Checks a log: seqs without gaps from 1, messages whole, and exactly one result for each call, after it. */
export function checkLog(chunks: readonly StoredChunk[]): void {
  const open = new Map<string, number>();
  for (const [index, { seq, chunk, partIndex, partCount, messageId }] of chunks.entries()) {
    checkEqual(seq, index + 1, "a seq of the log");
    const next = chunks[index + 1];
    const isLast = (partIndex ?? 0) + 1 === partCount;
    checkEqual(next === undefined || next.messageId !== messageId, isLast, `seq ${seq} ends its message`);
    if (chunk.type === "tool-call") open.set(chunk.toolCallId, (open.get(chunk.toolCallId) ?? 0) + 1);
    if (chunk.type === "tool-result") {
      const calls = open.get(chunk.toolCallId) ?? 0;
      check(calls > 0, `the result of ${chunk.toolCallId} at seq ${seq} answers a call`);
      open.set(chunk.toolCallId, calls - 1);
    }
  }
  for (const [toolCallId, calls] of open) checkEqual(calls, 0, `calls of ${toolCallId} without a result`);
}

/** Returns the text that a log shows, one line per message: `user: Hi`. */
export function transcript(chunks: readonly StoredChunk[]): string[] {
  const lines: { id: string | undefined; line: string }[] = [];
  for (const { role, chunk, messageId } of chunks) {
    const shown =
      chunk.type === "tool-call"
        ? `[${chunk.toolName} ${chunk.argumentsText}]`
        : chunk.type === "tool-result"
          ? `[${chunk.isError ? "failed: " : ""}${chunk.content}]`
          : chunk.type === "error"
            ? `[error ${chunk.code}]`
            : "text" in chunk
              ? chunk.text
              : `[${chunk.type}]`;
    const last = lines.at(-1);
    if (last !== undefined && last.id === messageId) last.line += ` ${shown}`;
    else lines.push({ id: messageId, line: `${role}: ${shown}` });
  }
  return lines.map(({ line }) => line);
}

/** Returns the events of one kind. */
export function ofType<Type extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: Type,
): Extract<AgentEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type);
}

/** Returns the only event of one kind. */
export function only<Type extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  type: Type,
): Extract<AgentEvent, { type: Type }> {
  const found = ofType(events, type);
  const [first] = found;
  check(first !== undefined && found.length === 1, `one ${type} event, not ${found.length}`);
  return first;
}

/** Returns the same script for every call. */
export function always(...entries: ScriptEntry[]): ScriptSource {
  return () => entries;
}

let made = 0;

function uniqueId(): string {
  made += 1;
  return `${Date.now().toString(36)}.${made.toString(36)}.${Math.random().toString(36).slice(2, 8)}`;
}
