import type { LastResponse } from "@parley/wire";
import { ParleyError } from "../errors.js";
import type { ConversationRecord, LogStore, OpenedTurn } from "../log-store.js";
import { textOf } from "../messages/message.js";
import type { HandCompactions } from "./compact-by-hand.js";
import { conversationDetail, turnDetail } from "./conversation-detail.js";
import type { Coordinator } from "./coordinator.js";
import type { Environment } from "./environment.js";
import { exportConversation } from "./export-conversation.js";
import { importConversation } from "./import-conversation.js";
import { checkId, type Inbox } from "./inbox.js";
import type { OwnerRuntime } from "./owner-runtime.js";
import { queueVerbs } from "./queue-verbs.js";
import type { Recovery } from "./recovery.js";
import type { Subscriptions } from "./subscribe.js";
import { toMeta } from "./watchers.js";

const defaultListLimit = 50;
const mostListed = 200;

/** The rooms of a runtime, and the owner who is asking. */
export interface OwnerScope {
  readonly env: Environment;
  readonly owner: string;
  readonly inbox: Inbox;
  readonly coordinator: Coordinator;
  readonly recovery: Recovery;
  readonly subscriptions: Subscriptions;
  readonly compactions: HandCompactions;
}

/** One owner's verbs. */
export function createOwnerRuntime(scope: OwnerScope): OwnerRuntime {
  const { env, owner, inbox, coordinator, subscriptions, compactions } = scope;
  const store = env.root.forOwner(owner);
  const changed = (conversationId: string) => {
    env.watchers.changed(owner);
    env.wake.notify([conversationId]);
  };
  const find = async (conversationId: string): Promise<ConversationRecord> => {
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    return record;
  };
  const stop = (conversationId: string) => stopTurn(scope, store, conversationId);

  return {
    send: (input) => inbox.send(owner, input),
    queue: queueVerbs(scope, store, changed),
    stop,
    async close(conversationId) {
      await find(conversationId);
      const stopped = await stop(conversationId);
      await store.set(conversationId, { closed: true });
      changed(conversationId);
      return stopped;
    },
    async open(conversationId) {
      await store.set(conversationId, { closed: false });
      env.watchers.changed(owner);
      env.watchers.tell(owner, { type: "conversation.open", conversationId });
      env.wake.notify([conversationId], "open");
    },
    async create({ id, ...settings }) {
      if (settings.model !== undefined) env.models.resolve(settings.model);
      checkThreshold(settings.compactThreshold);
      const made = await store.create({
        id: id === undefined ? env.ids.next() : checkId("id", id),
        settings,
      });
      if (made.created) changed(made.conversation.id);
      return { conversation: toMeta(made.conversation), created: made.created };
    },
    async list(query = {}) {
      const limit = Math.min(mostListed, Math.max(1, query.limit ?? defaultListLimit));
      const { conversations, next } = await store.list({
        limit,
        ...(query.q === undefined || query.q === "" ? {} : { q: query.q }),
        ...(query.status === undefined ? {} : { status: query.status }),
        ...(query.before === undefined ? {} : { before: query.before }),
      });
      return {
        conversations: conversations.map(toMeta),
        ...(next === undefined ? {} : { nextBefore: next }),
      };
    },
    async meta(conversationId) {
      const record = await find(conversationId);
      return conversationDetail(env, record, coordinator.active(conversationId));
    },
    async settings(conversationId) {
      const record = await find(conversationId);
      const { title, model, reasoningEffort, instructions, metadata } = record;
      return {
        title,
        compactThreshold:
          record.compactThreshold ?? Math.floor((env.windowOf(record.model) ?? 0) * env.compactAt),
        ...(model === undefined ? {} : { model }),
        ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
        ...(instructions === undefined ? {} : { instructions }),
        ...(metadata === undefined ? {} : { metadata }),
      };
    },
    async set(conversationId, change) {
      if (typeof change.model === "string") env.models.resolve(change.model);
      checkThreshold(change.compactThreshold);
      const record = await store.set(conversationId, change);
      changed(conversationId);
      return toMeta(record);
    },
    async history({ conversationId, sinceSeq, beforeSeq, limit, open }) {
      checkBounds({ sinceSeq, beforeSeq, limit });
      return store.readChunks({
        conversationId,
        ...(sinceSeq === undefined ? {} : { sinceSeq }),
        ...(beforeSeq === undefined ? {} : { beforeSeq }),
        ...(limit === undefined ? {} : { limit }),
        ...(open === undefined ? {} : { open }),
      });
    },
    metrics: (conversationId) => store.metrics(conversationId),
    turn: (conversationId, turnId) => turnDetail(store, conversationId, turnId),
    last: (conversationId, options) => lastAnswer(scope, store, conversationId, options?.signal),
    compact: (conversationId, request = {}) => compactions.compact(owner, store, conversationId, request),
    previewCompaction: (conversationId, request = {}) => compactions.preview(store, conversationId, request),
    async undoCompaction(conversationId) {
      const record = await store.undoCompaction(conversationId);
      changed(conversationId);
      return toMeta(record);
    },
    fork: (input) => forkConversation(scope, store, input, changed),
    exportLines: (conversationId) => exportConversation(store, conversationId),
    async importLines(lines, options) {
      const imported = await importConversation(env, store, lines, options?.id);
      if (imported.created) changed(imported.conversation.id);
      return imported;
    },
    async search({ q, limit = defaultListLimit }) {
      if (q.trim() === "") throw new ParleyError("invalid_request", "q: what to search for");
      return store.search({ q, limit: Math.min(mostListed, Math.max(1, limit)) });
    },
    async remove(conversationId, { cascade = false } = {}) {
      // What runs here is known by id alone, so it is asked first whose it is.
      if ((await store.get(conversationId)) === null) return [];
      await coordinator.interrupt(conversationId, undefined, { reason: "aborted" });
      compactions.stop(conversationId);
      const gone = await store.remove(conversationId, { cascade });
      for (const id of gone) {
        coordinator.lose(id);
        compactions.stop(id);
        env.hub.end(id, new ParleyError("conversation_not_found", "The conversation was deleted"));
      }
      env.watchers.changed(owner);
      // Whoever runs a turn of these finds out that it is gone.
      env.wake.notify(gone, "stop");
      return gone;
    },
    subscribe: (conversationId, cursor) => subscriptions.subscribe(owner, conversationId, cursor),
    attach: (conversationId, cursor, subscriber) =>
      subscriptions.attach(owner, conversationId, cursor, subscriber),
    events: (conversationId, turnId) => subscriptions.events(owner, conversationId, turnId),
    watch: (listener) => env.watchers.watch(owner, listener),
  };
}

/** Marks the turn, and sees to it that someone obeys: at once here, or by taking it over from a silent node. */
async function stopTurn(
  scope: OwnerScope,
  store: LogStore,
  conversationId: string,
): Promise<{ abortedTurn: boolean }> {
  const { env, owner, coordinator, compactions, recovery } = scope;
  const lease = await store.requestStop(conversationId);
  if (lease === null) {
    if ((await store.get(conversationId)) === null) throw new ParleyError("conversation_not_found");
    return { abortedTurn: false };
  }
  if (compactions.stop(conversationId)) return { abortedTurn: lease.purpose === "turn" };
  if (coordinator.active(conversationId)?.turnId === lease.turnId) {
    void coordinator.interrupt(conversationId, lease.turnId, { reason: "aborted" });
    return { abortedTurn: true };
  }
  env.wake.notify([conversationId], "stop");
  recovery.seizeLater(owner, lease);
  return { abortedTurn: lease.purpose === "turn" };
}

async function lastAnswer(
  scope: OwnerScope,
  store: LogStore,
  conversationId: string,
  signal: AbortSignal | undefined,
): Promise<LastResponse> {
  const { owner, subscriptions } = scope;
  const record = await store.get(conversationId);
  if (record === null) throw new ParleyError("conversation_not_found");
  if (record.active?.purpose === "turn") {
    const events = subscriptions.events(owner, conversationId, record.active.turnId);
    const onAbort = () => void events.return?.();
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    try {
      for (let next = await events.next(); !next.done; next = await events.next());
    } finally {
      signal?.removeEventListener("abort", onAbort);
      await events.return?.();
    }
    if (signal?.aborted) throw new ParleyError("canceled");
  }
  let before: number | undefined;
  do {
    const page = await store.readNewest({
      conversationId,
      limit: 50,
      ...(before === undefined ? {} : { before }),
    });
    for (const { message, turnId } of page.entries) {
      const text = textOf(message);
      if (message.role !== "assistant" || text === "") continue;
      const turn = turnId === undefined ? null : await store.readTurn(conversationId, turnId);
      const reason = turn?.turn.reason;
      return {
        conversationId,
        text,
        ...(turnId === undefined ? {} : { turnId }),
        ...(reason === undefined ? {} : { reason }),
      };
    }
    before = page.before;
  } while (before !== undefined);
  return { conversationId, text: "" };
}

async function forkConversation(
  scope: OwnerScope,
  store: LogStore,
  input: Parameters<OwnerRuntime["fork"]>[0],
  changed: (conversationId: string) => void,
): ReturnType<OwnerRuntime["fork"]> {
  const { env, owner, inbox, coordinator } = scope;
  inbox.checkReady();
  const newId = input.id === undefined ? env.ids.next() : checkId("id", input.id);
  if (!Number.isInteger(input.atSeq) || input.atSeq < 0) {
    throw new ParleyError("invalid_request", "atSeq: the last seq of a sealed turn, or 0");
  }
  const admit =
    input.message === undefined
      ? undefined
      : inbox.prepare(owner, {
          conversationId: newId,
          message: input.message,
          messageId: input.messageId,
          model: input.model,
          reasoningEffort: input.reasoningEffort,
        }).admission;
  if (admit !== undefined) inbox.checkRoom(owner);
  const fork = () =>
    store.fork({
      conversationId: input.conversationId,
      atSeq: input.atSeq,
      newId,
      ...(admit === undefined ? {} : { admit }),
    });
  const forked = await (admit === undefined ? fork() : inbox.opening(owner, newId, admit.turnId, fork));
  changed(newId);
  const turn: OpenedTurn | undefined = forked.turn;
  if (turn !== undefined) coordinator.run(owner, newId, turn);
  // Whoever asks again is told the same, also when the turn is elsewhere or over by now.
  const known = turn ?? (admit === undefined ? null : await store.findReceipt(newId, admit.message.id));
  return {
    conversation: toMeta(forked.conversation),
    ...(known?.turnId === undefined ? {} : { turnId: known.turnId }),
  };
}

function checkThreshold(threshold: number | null | undefined): void {
  if (threshold === null || threshold === undefined) return;
  if (!Number.isInteger(threshold) || threshold < 0) {
    throw new ParleyError(
      "invalid_request",
      "compactThreshold: tokens, a whole number; 0 compacts only by hand",
    );
  }
}

function checkBounds(bounds: { readonly [name: string]: number | undefined }): void {
  for (const [name, value] of Object.entries(bounds)) {
    if (value !== undefined && (!Number.isInteger(value) || value < 0)) {
      throw new ParleyError("invalid_request", `${name}: a whole number of at least 0`);
    }
  }
}
