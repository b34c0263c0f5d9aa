import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isParleyError } from "../errors.js";
import type { LogStore } from "../log-store.js";
import { createMemoryLogStore } from "../testing/memory-log-store.js";
import { checkLog } from "../testing/runtime-contract/world.js";
import { Client, Cluster, type ClusterNode, type StepPlan } from "./cluster.test-support.js";
import { decodeBatch } from "./journal-batch.js";

/** What is known of a message that someone sent. */
type Fate = "acknowledged" | "unknown" | "removed";

interface ConversationModel {
  readonly id: string;
  readonly messages: Map<string, Fate>;
  /** What a fork had in common with its origin when it was made. */
  readonly prefix: string[];
  /** Turns that were seen sealed, as they were then. */
  readonly sealed: Map<string, string>;
  /** Results that a client was told, by call. */
  readonly results: Map<string, string>;
  summaries: number;
}

/** The simple model: which facts have been acknowledged. Everything else is read from the store. */
interface Model {
  readonly conversations: Map<string, ConversationModel>;
  sent: number;
}

interface Real {
  readonly cluster: Cluster;
  readonly store: LogStore;
  readonly nodes: ClusterNode[];
  readonly clients: { conversationId: string; client: Client }[];
  /** Where each node stands: it may be cut off from the store. */
  readonly cutOff: Set<ClusterNode>;
}

class Act implements fc.AsyncCommand<Model, Real> {
  readonly #name: string;
  readonly #run: (model: Model, real: Real) => Promise<unknown>;

  constructor(name: string, run: (model: Model, real: Real) => Promise<unknown>) {
    this.#name = name;
    this.#run = run;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    await this.#run(model, real);
    await real.cluster.clock.advance(0);
    await expectInvariants(model, real);
  }

  toString(): string {
    return this.#name;
  }
}

function pick<T>(values: readonly T[], choice: number): T | undefined {
  return values[choice % Math.max(1, values.length)];
}

function conversationAt(model: Model, choice: number): ConversationModel {
  const known = [...model.conversations.values()];
  // Now and then a new one.
  const found = choice % 11 === 0 ? undefined : pick(known, choice);
  return found ?? addConversation(model, `c${model.sent}`);
}

function addConversation(model: Model, id: string, prefix: string[] = []): ConversationModel {
  const conversation: ConversationModel = {
    id,
    messages: new Map(),
    prefix,
    sealed: new Map(),
    results: new Map(),
    summaries: 0,
  };
  model.conversations.set(id, conversation);
  return conversation;
}

/** Lets a call come to its end, also where it has to wait for the store. */
async function settled<T>(real: Real, promise: Promise<T>): Promise<T | undefined> {
  let result: T | undefined;
  let isOver = false;
  promise.then(
    (value) => {
      result = value;
      isOver = true;
    },
    (error: unknown) => {
      isOver = true;
      if (!isParleyError(error)) throw error;
    },
  );
  for (let round = 0; round < 3 && !isOver; round += 1) await real.cluster.clock.advance(1);
  return result;
}

async function send(
  model: Model,
  real: Real,
  choice: { conversation: number; node: number; mode: "steer" | "queue"; fault: boolean },
): Promise<void> {
  const node = pick(real.nodes, choice.node) as ClusterNode;
  model.sent += 1;
  const conversation = conversationAt(model, choice.conversation);
  const messageId = `m${model.sent}`;
  if (choice.fault) node.faults.fail("admit", "after");
  conversation.messages.set(messageId, "unknown");
  const { mode } = choice;
  const input = { conversationId: conversation.id, messageId, message: `Message ${messageId}`, mode };
  const receipt = await settled(real, node.me.send({ ...input, ifBusy: "queue" }));
  if (receipt === undefined) return;
  expect(receipt.repeated).toBe(false);
  conversation.messages.set(messageId, "acknowledged");
  follow(real, conversation, node);
}

async function resend(model: Model, real: Real, choice: { message: number; node: number }): Promise<void> {
  const all = [...model.conversations.values()].flatMap((conversation) =>
    [...conversation.messages.keys()].map((messageId) => ({ conversation, messageId })),
  );
  const again = pick(all, choice.message);
  const node = pick(real.nodes, choice.node);
  if (again === undefined || node === undefined) return;
  const { conversation, messageId } = again;
  const before = conversation.messages.get(messageId);
  const input = { conversationId: conversation.id, messageId, message: `Message ${messageId}` };
  const receipt = await settled(real, node.me.send({ ...input, ifBusy: "queue" }));
  if (receipt === undefined) return;
  if (before !== "unknown") expect(receipt.repeated).toBe(true);
  if (before === "unknown") conversation.messages.set(messageId, "acknowledged");
}

/** A client of each conversation notes which results it is told. */
function follow(real: Real, conversation: ConversationModel, node: ClusterNode): void {
  const known = real.clients.filter(({ conversationId }) => conversationId === conversation.id);
  if (known.length >= 4) return;
  const client = new Client(conversation.id);
  client.onEvent = (event) => {
    if (event.type === "tool-result")
      conversation.results.set(`${event.stepId} ${event.toolCallId}`, event.content);
  };
  client.attach(node);
  real.clients.push({ conversationId: conversation.id, client });
}

async function expectInvariants(model: Model, real: Real): Promise<void> {
  for (const conversation of [...model.conversations.values()]) {
    const record = await real.store.get(conversation.id);
    if (record === null) {
      // Nothing that was acknowledged is in a conversation that does not exist.
      expect([...conversation.messages.values()].filter((fate) => fate === "acknowledged")).toEqual([]);
      continue;
    }
    await expectLog(
      conversation,
      real,
      record.queue.map(({ id }) => id),
    );
  }
  for (const [index, { client, conversationId }] of real.clients.entries()) {
    const { node } = client;
    if (node === undefined || !client.isJoined || !node.runtime.status().alive || real.cutOff.has(node))
      continue;
    for (const other of real.clients.slice(index + 1)) {
      if (other.conversationId !== conversationId || other.client.node !== node) continue;
      if (other.client.isJoined) expect(other.client.shown).toBe(client.shown);
    }
  }
}

async function expectLog(
  conversation: ConversationModel,
  real: Real,
  waiting: readonly string[],
): Promise<void> {
  const { id: conversationId } = conversation;
  const { chunks } = await real.store.readChunks({ conversationId, open: true });
  expect(chunks.map(({ seq }) => seq)).toEqual(chunks.map((_, index) => index + 1));
  expect(chunks.slice(0, conversation.prefix.length).map((chunk) => JSON.stringify(chunk))).toEqual(
    conversation.prefix,
  );
  const sealed = await real.store.readChunks({ conversationId });
  checkLog(sealed.chunks);

  const places = new Map<string, number>();
  for (const id of waiting) places.set(id, (places.get(id) ?? 0) + 1);
  for (const { messageId = "", role, partIndex } of chunks.slice(conversation.prefix.length)) {
    if (role === "user" && partIndex === 0) places.set(messageId, (places.get(messageId) ?? 0) + 1);
  }
  for (const [messageId, fate] of conversation.messages) {
    const count = places.get(messageId) ?? 0;
    if (fate === "acknowledged") expect([messageId, count]).toEqual([messageId, 1]);
    else if (fate === "removed") expect([messageId, count]).toEqual([messageId, 0]);
    else expect(count).toBeLessThanOrEqual(1);
  }
  for (const messageId of places.keys()) expect(conversation.messages.has(messageId)).toBe(true);

  const byTurn = new Map<string, unknown[]>();
  for (const chunk of sealed.chunks) {
    const { turnId = `seq ${chunk.seq}` } = chunk;
    byTurn.set(turnId, [...(byTurn.get(turnId) ?? []), chunk]);
  }
  for (const [turnId, rows] of byTurn) {
    const bytes = JSON.stringify(rows);
    expect(conversation.sealed.get(turnId) ?? bytes).toBe(bytes);
    conversation.sealed.set(turnId, bytes);
  }
  for (const turnId of conversation.sealed.keys()) expect(byTurn.has(turnId)).toBe(true);
  expect(chunks.filter(({ role }) => role === "system").length).toBeGreaterThanOrEqual(
    conversation.summaries,
  );

  const log = real.cluster.database.logs.get(conversationId);
  if (log?.active === undefined) expect(log?.journal).toEqual([]);
  const durable = new Map<string, string[]>();
  const note = (call: string, content: string) => durable.set(call, [...(durable.get(call) ?? []), content]);
  for (const { chunk } of chunks) {
    if (chunk.type === "tool-result") note(`${chunk.stepId} ${chunk.toolCallId}`, chunk.content);
  }
  for (const batch of log?.journal ?? []) {
    for (const { event } of decodeBatch(batch)) {
      if (event.type === "tool-result") note(`${event.stepId} ${event.toolCallId}`, event.content);
    }
  }
  for (const [call, content] of conversation.results)
    expect([call, durable.get(call)]).toEqual([call, [content]]);
}

const number = fc.nat({ max: 30 });
const node = fc.nat({ max: 1 });

/** Several of one kind, so that it comes as much more often than the others. */
const often = <T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T>[] =>
  Array.from({ length: times }, () => arbitrary);

const commands = [
  ...often(
    6,
    fc
      .record({
        conversation: number,
        node,
        mode: fc.constantFrom("steer" as const, "queue" as const),
        fault: fc.nat({ max: 5 }).map((value) => value === 0),
      })
      .map((choice) => new Act(`send ${JSON.stringify(choice)}`, (model, real) => send(model, real, choice))),
  ),
  fc
    .record({ message: number, node })
    .map(
      (choice) => new Act(`resend ${JSON.stringify(choice)}`, (model, real) => resend(model, real, choice)),
    ),
  ...often(
    7,
    fc.record({ choice: number, times: fc.integer({ min: 1, max: 10 }) }).map(
      ({ choice, times }) =>
        new Act(`step ${choice} x${times}`, async (_, { cluster }) => {
          for (let count = 0; count < times; count += 1) {
            cluster.stepper.step(choice);
            await cluster.clock.advance(0);
          }
        }),
    ),
  ),
  ...often(
    3,
    fc
      .constantFrom(1, 30, 60, 400, 2_000)
      .map((ms) => new Act(`pass ${ms}`, (_, { cluster }) => cluster.clock.advance(ms))),
  ),
  fc.record({ conversation: number, node }).map(
    (choice) =>
      new Act(`stop ${JSON.stringify(choice)}`, async (model, real) => {
        const conversation = pick([...model.conversations.values()], choice.conversation);
        const at = pick(real.nodes, choice.node);
        if (conversation !== undefined && at !== undefined) await settled(real, at.me.stop(conversation.id));
      }),
  ),
  fc.record({ conversation: number, entry: number, node, what: fc.nat({ max: 3 }) }).map(
    (choice) =>
      new Act(`queue ${JSON.stringify(choice)}`, async (model, real) => {
        const conversation = pick([...model.conversations.values()], choice.conversation);
        const at = pick(real.nodes, choice.node);
        if (conversation === undefined || at === undefined) return;
        if (choice.what === 0) {
          await settled(real, at.me.queue.resume(conversation.id));
          return;
        }
        const record = await real.store.get(conversation.id);
        const entry = pick(record?.queue ?? [], choice.entry);
        if (entry === undefined) return;
        if (choice.what === 1) {
          const removed = await settled(real, at.me.queue.remove(conversation.id, entry.id));
          if (removed !== undefined) conversation.messages.set(entry.id, "removed");
        } else {
          const mode = choice.what === 2 ? "steer" : "queue";
          await settled(real, at.me.queue.edit(conversation.id, entry.id, { mode, before: null }));
        }
      }),
  ),
  ...often(2, fc.record({ conversation: number, node, keepLastN: fc.nat({ max: 3 }) })).map((choices) =>
    choices.map(
      (choice) =>
        new Act(`compact ${JSON.stringify(choice)}`, async (model, real) => {
          const conversation = pick([...model.conversations.values()], choice.conversation);
          const at = pick(real.nodes, choice.node);
          if (conversation === undefined || at === undefined) return;
          const { keepLastN } = choice;
          at.me.compact(conversation.id, { keepLastN }).then(
            () => {
              conversation.summaries += 1;
            },
            () => undefined,
          );
        }),
    ),
  ),
  fc.record({ conversation: number, node }).map(
    (choice) =>
      new Act(`undo ${JSON.stringify(choice)}`, async (model, real) => {
        const conversation = pick([...model.conversations.values()], choice.conversation);
        const at = pick(real.nodes, choice.node);
        if (conversation !== undefined && at !== undefined) {
          await settled(real, at.me.undoCompaction(conversation.id));
        }
      }),
  ),
  fc.record({ conversation: number, node, turn: number, withMessage: fc.boolean() }).map(
    (choice) =>
      new Act(`fork ${JSON.stringify(choice)}`, async (model, real) => {
        const origin = pick([...model.conversations.values()], choice.conversation);
        const at = pick(real.nodes, choice.node);
        if (origin === undefined || at === undefined || (await real.store.get(origin.id)) === null) return;
        const { chunks } = await real.store.readChunks({ conversationId: origin.id });
        const ends = chunks.filter((chunk, index) => chunks[index + 1]?.turnId !== chunk.turnId);
        const atSeq = pick([0, ...ends.map(({ seq }) => seq)], choice.turn) ?? 0;
        model.sent += 1;
        const id = `f${model.sent}`;
        const messageId = `m${model.sent}`;
        const input = { conversationId: origin.id, atSeq, id };
        const message = { message: `Message ${messageId}`, messageId };
        const forked = await settled(real, at.me.fork(choice.withMessage ? { ...input, ...message } : input));
        if (forked === undefined) return;
        const prefix = chunks.filter(({ seq }) => seq <= atSeq).map((chunk) => JSON.stringify(chunk));
        const made = addConversation(model, id, prefix);
        if (choice.withMessage) made.messages.set(messageId, "acknowledged");
        follow(real, made, at);
      }),
  ),
  fc.record({ conversation: number, node, cascade: fc.boolean() }).map(
    (choice) =>
      new Act(`remove ${JSON.stringify(choice)}`, async (model, real) => {
        if (choice.conversation % 3 !== 0) return;
        const conversation = pick([...model.conversations.values()], choice.conversation);
        const at = pick(real.nodes, choice.node);
        if (conversation === undefined || at === undefined || real.cutOff.has(at)) return;
        const gone = await settled(real, at.me.remove(conversation.id, { cascade: choice.cascade }));
        for (const id of gone ?? []) model.conversations.delete(id);
        if (gone === undefined) model.conversations.delete(conversation.id);
      }),
  ),
  fc.record({ client: number, node, frames: fc.integer({ min: 1, max: 20 }) }).map(
    (choice) =>
      new Act(`reconnect ${JSON.stringify(choice)}`, async (_, real) => {
        const found = pick(real.clients, choice.client);
        const at = pick(real.nodes, choice.node);
        if (found === undefined || at === undefined || found.client.ended !== undefined) return;
        found.client.attach(at, choice.frames > 15 ? Number.POSITIVE_INFINITY : choice.frames);
      }),
  ),
  // A node dies: it is cut off for long enough that the other one takes over, and then comes back.
  node.map(
    (choice) =>
      new Act(`crash ${choice}`, async (_, real) => {
        const at = pick(real.nodes, choice);
        if (at === undefined || real.cutOff.size > 0) return;
        at.faults.cutOff();
        real.cutOff.add(at);
        await real.cluster.clock.advance(12_500);
        at.faults.heal();
        await real.cluster.clock.advance(3_500);
        real.cutOff.delete(at);
      }),
  ),
  // A node is away for less than its lease lasts.
  fc.record({ node, ms: fc.constantFrom(100, 2_000, 5_000) }).map(
    (choice) =>
      new Act(`pause ${JSON.stringify(choice)}`, async (_, real) => {
        const at = pick(real.nodes, choice.node);
        if (at === undefined) return;
        at.faults.cutOff();
        real.cutOff.add(at);
        await real.cluster.clock.advance(choice.ms);
        at.faults.heal();
        real.cutOff.delete(at);
        await real.cluster.clock.advance(2_500);
      }),
  ),
  // A deploy: the node drains and a new one takes its place.
  node.map(
    (choice) =>
      new Act(`deploy ${choice}`, async (_, real) => {
        const old = pick(real.nodes, choice);
        if (old === undefined) return;
        const closed = (async () => {
          await old.runtime.drain({ deadlineMs: 1_000 });
          await old.runtime.close();
        })();
        await real.cluster.clock.advance(1_500);
        await closed;
        real.nodes[real.nodes.indexOf(old)] = await real.cluster.node();
      }),
  ),
];

const stepPlan: fc.Arbitrary<StepPlan> = fc.record({
  pieces: fc.array(fc.constantFrom("text" as const, "text" as const, "reasoning" as const), { maxLength: 3 }),
  tools: fc.array(fc.constantFrom("again" as const, "once" as const), { maxLength: 2 }),
});

describe("the runtime, against a simple model", () => {
  it("keeps every acknowledged fact, once, whatever happens", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(stepPlan, { minLength: 1, maxLength: 5 }),
        fc.commands(commands, { maxCommands: 60, size: "max" }),
        async (plans, acts) => {
          const cluster = new Cluster(plans);
          const model: Model = { conversations: new Map(), sent: 0 };
          const real: Real = {
            cluster,
            store: createMemoryLogStore({ clock: cluster.clock, database: cluster.database }).forOwner(
              "owner",
            ),
            nodes: [await cluster.node(), await cluster.node()],
            clients: [],
            cutOff: new Set(),
          };
          await fc.asyncModelRun(() => ({ model, real }), acts);
          await cluster.finish();
          await expectInvariants(model, real);
          await expectTheEnd(model, real);
        },
      ),
      { numRuns: 60 },
    );
  }, 300_000);
});

/** When everything has come to its end: nothing runs, and every client that comes back shows the log. */
async function expectTheEnd(model: Model, real: Real): Promise<void> {
  const [at] = real.nodes as [ClusterNode];
  for (const { client, conversationId } of real.clients) {
    if (client.ended === undefined && model.conversations.has(conversationId)) client.attach(at);
  }
  await real.cluster.clock.advance(2_000);
  for (const { id } of model.conversations.values()) {
    const record = await real.store.get(id);
    if (record === null) continue;
    expect([id, record.active]).toEqual([id, undefined]);
    if (record.queue.length > 0) expect(record.queuePaused).toBe(true);
    const { chunks } = await real.store.readChunks({ conversationId: id });
    expect(record.lastSeq).toBe(chunks.length);
    for (const { client, conversationId } of real.clients) {
      if (conversationId !== id || client.ended !== undefined) continue;
      expect(JSON.stringify(client.fold.state.chunks)).toBe(JSON.stringify(chunks));
      expect(client.fold.state.messages.flatMap(({ parts }) => parts)).toEqual(
        chunks.map(({ chunk }) => chunk),
      );
    }
  }
  for (const { client } of real.clients) client.detach();
  await real.cluster.close();
  expect(real.cluster.clock.pending).toBe(0);
}
