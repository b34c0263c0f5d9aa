import type { LogStore } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import {
  batch,
  heldTurn,
  message,
  outcomeOf,
  refused,
  type TopicCase,
  turnMetrics,
  uniqueId,
} from "../scenario.js";

/** What a stranger may know of a conversation. All of it is as true of one that never was. */
interface Target {
  readonly id: string;
  readonly turnId: string;
  readonly messageId: string;
  readonly fence: number;
}

const node = "a-stranger";

/** One call of every method that names a conversation and does not make it. */
const calls: { [Method in keyof LogStore]?: (store: LogStore, target: Target) => Promise<unknown> } = {
  commitStep: (store, target) =>
    store.commitStep({
      ...lease(target),
      stepId: "s",
      messages: [message(target.id)],
      promoteSteers: true,
      steps: [],
      providerCalls: [],
    }),
  seal: (store, target) =>
    store.seal({
      ...lease(target),
      messages: [],
      reason: "stop",
      metrics: turnMetrics(target.turnId),
      providerCalls: [],
      next: { node, turnId: uniqueId(), pauseQueue: false, openNext: true },
    }),
  requestStop: (store, { id }) => store.requestStop(id),
  takeOver: (store, target) => store.takeOver({ ...lease(target), node }),
  release: (store, target) => store.release(lease(target)),
  lease: (store, { id }) => store.lease({ conversationId: id, node, turnId: uniqueId() }),
  endLease: (store, target) =>
    store.endLease({
      ...lease(target),
      next: { node, turnId: uniqueId(), pauseQueue: true, openNext: true },
    }),
  readChunks: (store, { id }) => store.readChunks({ conversationId: id, open: true }),
  readNewest: (store, { id }) => store.readNewest({ conversationId: id, limit: 5 }),
  readOpenTurn: (store, { id }) => store.readOpenTurn({ conversationId: id }),
  fork: (store, { id }) => store.fork({ conversationId: id, atSeq: 0, newId: uniqueId() }),
  compact: (store, target) =>
    store.compact({
      ...lease(target),
      summary: message(target.id, { role: "system" }),
      covers: { fromSeq: 1, toSeq: 1 },
      archiveId: uniqueId(),
    }),
  undoCompaction: (store, { id }) => store.undoCompaction(id),
  get: (store, { id }) => store.get(id),
  set: (store, { id }) => store.set(id, { title: "Stolen", closed: true }),
  readTurn: (store, { id, turnId }) => store.readTurn(id, turnId),
  findReceipt: (store, { id, messageId }) => store.findReceipt(id, messageId),
  lastCall: (store, { id }) => store.lastCall(id),
  metrics: (store, { id }) => store.metrics(id),
  search: (store, { id }) => store.search({ q: "hello", limit: 5, conversationId: id }),
  remove: (store, { id }) => store.remove(id, { cascade: true }),
  getConversation: (store, { id }) => store.getConversation(id),
  updateConversation: (store, { id }) => store.updateConversation(id, { title: "Stolen" }),
  appendMessages: (store, { id }) => store.appendMessages([message(id)]),
  listMessages: (store, { id }) => store.listMessages(id),
  appendTurn: (store, { id }) =>
    store.appendTurn({
      id: uniqueId(),
      conversationId: id,
      createdAt: new Date(),
      userMessages: [],
      assistantMessages: [],
      providerCalls: [],
    }),
  listTurns: (store, { id }) => store.listTurns(id),
};

const queueCalls: Record<string, (store: LogStore, target: Target) => Promise<unknown>> = {
  list: (store, { id }) => store.queue(id, { op: "list" }),
  edit: (store, { id, messageId }) => store.queue(id, { op: "edit", id: messageId, text: "Stolen" }),
  remove: (store, { id, messageId }) => store.queue(id, { op: "remove", id: messageId }),
  pause: (store, { id }) => store.queue(id, { op: "pause" }),
  resume: (store, { id }) => store.queue(id, { op: "resume", node, turnId: uniqueId() }),
};

function lease(target: Target) {
  return { conversationId: target.id, turnId: target.turnId, fence: target.fence };
}

/** An owner sees its own: whatever belongs to another behaves as if it did not exist. */
export const ownerCases: readonly TopicCase[] = [
  ...[
    ...Object.entries(calls),
    ...Object.entries(queueCalls).map(([op, call]) => [`queue ${op}`, call] as const),
  ].map(
    ([method, call]): TopicCase => ({
      name: `${method} answers another owner's conversation as it answers an unknown one, and leaves it alone`,
      async run(s) {
        const turn = await s.start();
        const id = turn.conversationId;
        const messageId = await s.enqueue(id, { mode: "queue" });
        await s.root.flushJournal([batch(turn, 0)]);
        const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
        const state = async () => {
          // Time passes meanwhile.
          const open = { ...(await s.store.readOpenTurn({ conversationId: id })), elapsedMs: undefined };
          return [await s.store.get(id), await s.log(id), open];
        };
        const before = await state();
        const target = { id, turnId: turn.turnId, messageId, fence: turn.fence };
        const foreign = await outcomeOf(call(stranger, target));
        const unknown = await outcomeOf(call(stranger, { ...target, id: uniqueId() }));
        checkEqual(foreign, unknown, "the answer, beside that for an unknown id");
        checkEqual(await state(), before, "the conversation");
      },
    }),
  ),
  {
    name: "an id of another owner can be neither sent to nor made again",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const strangerName = `stranger-${uniqueId()}`;
      const stranger = s.root.forOwner(strangerName);
      const before = await s.store.get(id);
      await refused(stranger.admit(s.admission(id)), "conversation_not_found", "a message");
      await refused(stranger.create({ id, settings: {} }), "conversation_not_found", "making it");
      await refused(
        stranger.createConversation({ id }),
        "conversation_not_found",
        "making it as an engine does",
      );
      const own = uniqueId();
      await stranger.create({ id: own, settings: {} });
      const forked = stranger.fork({ conversationId: own, atSeq: 0, newId: id });
      await refused(forked, "conversation_not_found", "a fork with that id");
      checkEqual(await s.store.get(id), before, "the conversation");
      await stranger.remove(own, { cascade: true });
    },
  },
  {
    name: "lists, feeds and searches show an owner's own alone",
    async run(s) {
      const { conversationId: id } = await s.turn(uniqueId(), "okapi");
      const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
      const listed = await stranger.list({ limit: 10 });
      checkEqual(listed.conversations, [], "the list");
      checkEqual(
        (await stranger.list({ limit: 10, q: id })).conversations,
        [],
        "the list narrowed to its id",
      );
      checkEqual((await stranger.changed({ since: 0, limit: 10 })).conversations, [], "the feed");
      checkEqual(await stranger.search({ q: "okapi", limit: 10 }), { hits: [] }, "the search");
      checkEqual(await stranger.listConversations(), [], "the engine's list");
    },
  },
  {
    name: "one message id may be used by two owners",
    async run(s) {
      const messageId = uniqueId();
      const first = await s.start(uniqueId(), { messageId });
      const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
      const id = uniqueId();
      const outcome = await stranger.admit(s.admission(id, { messageId }));
      checkEqual(outcome.kind, "started", "the second owner's message");
      checkEqual((await s.store.get(first.conversationId))?.lastSeq, 1, "the first owner's log");
      await stranger.remove(id, { cascade: true });
    },
  },
  {
    name: "two owners that make the same id at once: one has it, the other is refused",
    twoHandles: true,
    async run(s) {
      const stranger = s.second.forOwner(`stranger-${uniqueId()}`);
      for (let round = 0; round < 20; round++) {
        const id = uniqueId();
        const outcomes = await Promise.all([
          outcomeOf(s.send(id)),
          outcomeOf(stranger.admit(s.admission(id))),
        ]);
        const won = outcomes.filter((outcome) => "value" in outcome);
        const lost = outcomes.filter((outcome) => "code" in outcome);
        checkEqual(won.length, 1, "how many have it");
        checkEqual(lost, [{ code: "conversation_not_found" }], "what the other is told");
        checkEqual((await s.store.get(id)) === null, (await stranger.get(id)) !== null, "whose it is");
        await stranger.remove(id, { cascade: true });
      }
    },
  },
  {
    name: "the writes of a turn need its owner, the journal its fence",
    async run(s) {
      const turn = await s.start();
      const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
      checkEqual(await stranger.takeOver({ ...heldTurn(turn), node }), null, "a stranger's take-over");
      const open = await s.store.readOpenTurn({ conversationId: turn.conversationId });
      check(open?.node === s.node && open.fence === turn.fence, "the turn is still held");
    },
  },
];
