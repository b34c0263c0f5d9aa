import { createMemoryLogStore } from "@parley/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isParleyError } from "../errors.js";
import { Client, Cluster, type ClusterNode, type StepPlan } from "./cluster.test-support.js";
import {
  type ConversationModel,
  expectInvariants,
  expectTheEnd,
  type Model,
  type Real,
} from "./model.test-support.js";

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
  // Sometimes a new one.
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

/** Lets a call finish, even if it has to wait for the store. */
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
  const input = { conversationId: conversation.id, messageId, message: `Message ${messageId}` };
  const receipt = await settled(real, node.me.send({ ...input, ifBusy: mode }));
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

/** Connects a client of each conversation, which records the results it receives. */
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

const number = fc.nat({ max: 30 });
const node = fc.nat({ max: 1 });

/** Repeats one kind, so that it is chosen that much more often than the others. */
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
  // A node dies: it is cut off for long enough that the other one takes over, and then returns.
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
  // A node is away for less than the duration of its lease.
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
