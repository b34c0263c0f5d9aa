import type { LogStore } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import {
  batch,
  heldTurn,
  message,
  outcomeOf,
  type Scenario,
  type TopicCase,
  turnMetrics,
  uniqueId,
} from "../scenario.js";

/** Data of a conversation that another owner may know. All of it is equally true of one that never existed. */
interface Target {
  readonly id: string;
  readonly turnId: string;
  readonly messageId: string;
  readonly fence: number;
}

const node = "a-stranger";

/** One call of every method that names a conversation and does not create it. */
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
  readAfter: (store, { id }) => store.readAfter({ conversationId: id, seq: 0, limit: 5 }),
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

/**
 * Every method that creates a conversation under an id of the caller's choice. Returns results without values that
 * are new each time.
 */
const makers: Record<string, (s: Scenario, store: LogStore, id: string) => Promise<unknown>> = {
  async admit(s, store, id) {
    const outcome = await store.admit(s.admission(id, { turnId: "t", messageId: "m" }));
    return [outcome.kind, outcome.kind === "started" ? outcome.created : undefined];
  },
  async create(_, store, id) {
    const { created, conversation } = await store.create({ id, settings: { title: "Made" } });
    return [created, conversation.title, conversation.lastSeq];
  },
  async createConversation(_, store, id) {
    return (await store.createConversation({ id, title: "Made" })).title;
  },
  async fork(s, store, id) {
    const origin = uniqueId();
    const outcome = await store.admit(s.admission(origin));
    check(outcome.kind === "started", "the message opens a turn");
    const { lastSeq } = await s.seal({ ...outcome.turn, conversationId: origin }, [], { through: store });
    const { created, conversation } = await store.fork({ conversationId: origin, atSeq: lastSeq, newId: id });
    return [created, conversation.lastSeq];
  },
  async compact(s, store, id) {
    const origin = uniqueId();
    const outcome = await store.admit(s.admission(origin));
    check(outcome.kind === "started", "the message opens a turn");
    await s.seal({ ...outcome.turn, conversationId: origin }, [], { through: store });
    const held = await store.lease({ conversationId: origin, node, turnId: uniqueId() });
    const { entry } = await store.compact({
      ...heldTurn(held),
      summary: message(origin, { role: "system" }),
      covers: { fromSeq: 1, toSeq: 1 },
      archiveId: id,
      release: { node, turnId: uniqueId(), pauseQueue: false, openNext: true },
    });
    return [entry.firstSeq, (await store.get(origin))?.compactedFrom === id];
  },
  async importConversation(_, store, id) {
    const { created, conversation } = await store.importConversation({
      conversationId: id,
      settings: { title: "Imported" },
      createdAt: 1_000,
      lastActivityAt: 2_000,
      closed: false,
      entries: [{ message: message(id, { id: "imported" }), firstSeq: 1 }],
      turns: [],
    });
    return [created, conversation.title, conversation.lastSeq];
  },
};

function lease(target: Target) {
  return { conversationId: target.id, turnId: target.turnId, fence: target.fence };
}

/** Cases of owners: an owner sees its own conversations, and those of others behave as if they did not exist. */
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
  ...Object.entries(makers).map(
    ([method, make]): TopicCase => ({
      name: `${method} makes a conversation with an id of another owner as with an unused one`,
      async run(s) {
        const { conversationId: taken } = await s.turn();
        const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
        const before = [await s.store.get(taken), await s.log(taken)];
        const used = await outcomeOf(make(s, stranger, taken));
        const unused = uniqueId();
        checkEqual(
          used,
          await outcomeOf(make(s, stranger, unused)),
          "the answer, beside that for an unused id",
        );
        const [made, other] = [await stranger.get(taken), await stranger.get(unused)];
        check(made !== null && other !== null, "both are there");
        check(made?.log !== (await s.store.get(taken))?.log, "it is a log of its own");
        checkEqual(await s.texts(taken, stranger), await s.texts(unused, stranger), "the new logs");
        checkEqual([await s.store.get(taken), await s.log(taken)], before, "the other owner's");
        for (const { id } of (await stranger.list({ limit: 10 })).conversations) {
          await stranger.remove(id, { cascade: true });
        }
        checkEqual([await s.store.get(taken), await s.log(taken)], before, "the other owner's in the end");
      },
    }),
  ),
  ...[
    ...Object.entries(calls),
    ...Object.entries(queueCalls).map(([op, call]) => [`queue ${op}`, call] as const),
  ].map(
    ([method, call]): TopicCase => ({
      name: `${method} of a conversation leaves another owner's with the same ids alone`,
      async run(s) {
        const [id, turnId, messageId, waiting] = [uniqueId(), uniqueId(), uniqueId(), uniqueId()];
        const stranger = s.root.forOwner(`stranger-${uniqueId()}`);
        const first = s.admission(id, { turnId, messageId });
        const second = s.admission(id, { messageId: waiting, mode: "queue" });
        for (const store of [s.store, stranger]) {
          const { kind } = await store.admit(first);
          checkEqual([kind, (await store.admit(second)).kind], ["started", "queued"], "both messages");
        }
        const held = await s.store.readOpenTurn({ conversationId: id });
        const state = async () => {
          const open = { ...(await s.store.readOpenTurn({ conversationId: id })), elapsedMs: undefined };
          return [await s.store.get(id), await s.log(id), open, await s.store.list({ limit: 10 })];
        };
        const before = await state();
        const target = { id, turnId, messageId: waiting, fence: held?.fence ?? 0 };
        await outcomeOf(call(stranger, target));
        checkEqual(await state(), before, "the first owner's");
        for (const each of (await stranger.list({ limit: 10 })).conversations) {
          await stranger.remove(each.id, { cascade: true });
        }
        checkEqual(await state(), before, "the first owner's once the second's is gone");
      },
    }),
  ),
  {
    name: "turns, archives and searches of two owners with the same ids are each one's own",
    async run(s) {
      const id = uniqueId();
      const archiveId = uniqueId();
      const strangerName = `stranger-${uniqueId()}`;
      const owners = [
        { owner: s.owner, store: s.store, text: "okapi" },
        { owner: strangerName, store: s.root.forOwner(strangerName), text: "zebra" },
      ];
      for (const { store, text } of owners) {
        const outcome = await store.admit(s.admission(id, { text, turnId: "t", messageId: "m" }));
        check(outcome.kind === "started", "the message opens a turn");
        await s.seal({ ...outcome.turn, conversationId: id }, [], { through: store });
        const held = await store.lease({ conversationId: id, node: s.node, turnId: "compaction" });
        await store.compact({
          conversationId: id,
          turnId: "compaction",
          fence: held.fence,
          summary: message(id, { id: "s", role: "system", text: `About ${text}` }),
          covers: { fromSeq: 1, toSeq: 1 },
          archiveId,
          release: s.next(),
        });
      }
      for (const { owner, store, text } of owners) {
        await s.root.indexSearch({ owner, limit: 100 });
        checkEqual(await s.texts(id, store), [text, `About ${text}`], "the log");
        checkEqual((await store.get(id))?.compactedFrom, archiveId, "its archive");
        checkEqual((await store.get(archiveId))?.archiveOf, id, "what the archive belongs to");
        checkEqual(await s.texts(archiveId, store), [text], "the archive");
        const { hits } = await store.search({ q: text, limit: 10 });
        checkEqual(hits.length, 2, "its own words");
        const others = owners.filter((each) => each.store !== store).map((each) => each.text);
        for (const q of others) checkEqual(await store.search({ q, limit: 10 }), { hits: [] }, "the other's");
        const { log = 0 } = (await store.get(id)) ?? {};
        checkEqual(await s.root.locate(log), { owner, conversationId: id }, "whose the log is");
      }
      await s.root.forOwner(strangerName).remove(id, { cascade: true });
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
    name: "two owners that make the same id at once both have it",
    twoHandles: true,
    async run(s) {
      const stranger = s.second.forOwner(`stranger-${uniqueId()}`);
      for (let round = 0; round < 20; round++) {
        const id = uniqueId();
        const outcomes = await Promise.all([s.send(id), stranger.admit(s.admission(id))]);
        checkEqual(
          outcomes.map(({ kind }) => kind),
          ["started", "started"],
          "both messages",
        );
        const logs = [(await s.store.get(id))?.log, (await stranger.get(id))?.log];
        check(logs[0] !== logs[1], "two logs");
        await stranger.remove(id, { cascade: true });
      }
    },
  },
  {
    name: "a journal batch is written only with the owner of its turn",
    async run(s) {
      const turn = await s.start();
      const outcomes = await s.root.flushJournal([
        batch({ ...turn, owner: `stranger-${uniqueId()}` }, 0),
        batch(turn, 2),
      ]);
      checkEqual(outcomes, ["stale_fence", "ok"], "a stranger's batch and its own");
      const alone = await s.root.flushJournal([batch({ ...turn, owner: `stranger-${uniqueId()}` }, 4)]);
      checkEqual(alone, ["stale_fence"], "a stranger's batch alone");
      const open = await s.store.readOpenTurn({ conversationId: turn.conversationId });
      checkEqual(open?.journal.length, 1, "the journal");
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
