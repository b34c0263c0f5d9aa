import { omitUndefined } from "@parley/fold";
import { invalidField, ParleyError } from "../../errors.js";
import { hiddenMessageId } from "../../messages/hidden-entry.js";
import type { OpenedTurn } from "../../ports/log-store.js";
import { checkId, derivedMessageId } from "../admission/inbox.js";
import { toMeta } from "../conversation-meta.js";
import { importConversation } from "../transfer/import-conversation.js";
import type { OwnerRuntime } from "./owner-runtime.js";
import type { OwnerScope } from "./owner-scope.js";

type ConversationVerbs = Pick<
  OwnerRuntime,
  | "stop"
  | "close"
  | "open"
  | "create"
  | "set"
  | "append"
  | "hide"
  | "undoCompaction"
  | "fork"
  | "importLines"
  | "remove"
>;

/** Creates an owner's operations on whole conversations. */
export function conversationVerbs(scope: OwnerScope): ConversationVerbs {
  const { env, owner, store, coordinator, compactions, openRequests, find, changed } = scope;
  const stop = (conversationId: string) => stopTurn(scope, conversationId);
  return {
    stop,
    async close(conversationId) {
      await find(conversationId);
      const stopped = await stop(conversationId);
      changed((await store.set(conversationId, { closed: true })).log);
      return stopped;
    },
    async open(conversationId) {
      const { log } = await store.set(conversationId, { closed: false });
      changed(log);
      openRequests.ask(owner, { conversationId, log });
    },
    async create({ id, ...settings }) {
      if (settings.model !== undefined) env.models.resolve(settings.model);
      checkThreshold(settings.compactThreshold);
      const made = await store.create({
        id: id === undefined ? env.ids.next() : checkId("id", id),
        settings,
      });
      if (made.created) changed(made.conversation.log);
      return { conversation: toMeta(env, made.conversation), created: made.created };
    },
    async set(conversationId, change) {
      if (typeof change.model === "string") env.models.resolve(change.model);
      checkThreshold(change.compactThreshold);
      const record = await store.set(conversationId, change);
      changed(record.log);
      return toMeta(env, record);
    },
    async append(conversationId, messages) {
      const { log } = await find(conversationId);
      const stored = await scope.inbox.storedMessages(scope.owner, messages);
      const given = scope.inbox.externalMessages(stored, conversationId, env.ids.next());
      await store.appendMessages(given);
      changed(log);
      return given.map(({ id }) => id);
    },
    async hide(conversationId, hidden) {
      const { log } = await find(conversationId);
      const data = { type: "hidden", ...hidden };
      const message = { id: hiddenMessageId(hidden), conversationId, createdAt: new Date(env.clock.now()) };
      await store.appendMessages([{ ...message, role: "system", content: [{ type: "metadata", data }] }]);
      changed(log);
    },
    async undoCompaction(conversationId) {
      const record = await store.undoCompaction(conversationId);
      changed(record.log);
      return toMeta(env, record);
    },
    fork: (input) => forkConversation(scope, input),
    async importLines(lines, options) {
      const { log, response } = await importConversation(env, store, lines, options?.id);
      if (response.created) changed(log);
      return response;
    },
    async remove(conversationId, { cascade = false, unusedForMs, temporary } = {}) {
      const record = await store.get(conversationId);
      if (record === null) return [];
      if (unusedForMs === undefined) {
        await coordinator.interrupt(record.log, undefined, { reason: "aborted" });
        compactions.stop(record.log);
      }
      const gone = await store.remove(conversationId, {
        cascade,
        ...omitUndefined({ unusedForMs, temporary }),
      });
      for (const { id, log } of gone) {
        env.keptHistories.drop(owner, id);
        coordinator.lose(log);
        compactions.stop(log);
        env.hub.end(log, new ParleyError("conversation_not_found", "The conversation was deleted"));
      }
      // A node that runs a turn of these finds out that it is gone.
      const logs = gone.map(({ log }) => log);
      env.notifyChanged(owner, logs, { kind: "stop" });
      return gone.map(({ id }) => id);
    },
  };
}

/** Marks the turn, and makes sure that a node stops it: immediately here, or by taking it over from a silent node. */
async function stopTurn(scope: OwnerScope, conversationId: string): Promise<{ abortedTurn: boolean }> {
  const { env, owner, store, coordinator, compactions, recovery } = scope;
  const lease = await store.requestStop(conversationId);
  if (lease === null) {
    await scope.find(conversationId);
    return { abortedTurn: false };
  }
  const { log } = lease;
  if (compactions.stop(log, lease.turnId)) return { abortedTurn: lease.purpose === "turn" };
  if (coordinator.active(log)?.turnId === lease.turnId) {
    void coordinator.interrupt(log, lease.turnId, { reason: "aborted" });
    return { abortedTurn: true };
  }
  if (lease.isFree) recovery.takeFree(owner, lease);
  else {
    env.wake.notify([log], "stop");
    recovery.seizeLater(owner, lease);
  }
  return { abortedTurn: lease.purpose === "turn" };
}

async function forkConversation(
  scope: OwnerScope,
  input: Parameters<OwnerRuntime["fork"]>[0],
): ReturnType<OwnerRuntime["fork"]> {
  const { env, owner, store, inbox, coordinator } = scope;
  inbox.checkReady(owner);
  const newId = input.id === undefined ? env.ids.next() : checkId("id", input.id);
  if (!Number.isInteger(input.atSeq) || input.atSeq < 0) {
    throw invalidField("atSeq", "the last seq of a sealed turn, or 0");
  }
  const admit =
    input.message === undefined
      ? undefined
      : await inbox.ready(owner, {
          conversationId: newId,
          message: input.message,
          parts: input.parts,
          // A repeated request for the same fork is for the same message.
          messageId: input.messageId ?? (input.id === undefined ? undefined : derivedMessageId(owner, newId)),
          model: input.model,
          reasoningEffort: input.reasoningEffort,
          instructions: input.instructions,
          tools: input.tools,
          toolNames: input.toolNames,
          maxOutputTokens: input.maxOutputTokens,
          output: input.output,
          metadata: input.metadata,
          before: input.before,
        });
  if (admit !== undefined) inbox.checkCapacity(owner);
  const fork = () =>
    store.fork({
      conversationId: input.conversationId,
      atSeq: input.atSeq,
      newId,
      ...omitUndefined({ admit, chatId: input.chatId }),
    });
  const forked = await (admit === undefined ? fork() : inbox.opening(owner, newId, admit.turnId, fork));
  scope.changed(forked.conversation.log);
  const turn: OpenedTurn | undefined = forked.turn;
  if (turn !== undefined) coordinator.run(owner, newId, turn);
  // A repeated request gets the same result, even if the turn is on another node or over by now.
  const known = turn ?? (admit === undefined ? null : await store.findReceipt(newId, admit.message.id));
  return {
    conversation: toMeta(env, forked.conversation),
    ...(known?.turnId === undefined ? {} : { turnId: known.turnId }),
  };
}

function checkThreshold(threshold: number | null | undefined): void {
  if (threshold === null || threshold === undefined) return;
  if (!Number.isInteger(threshold) || threshold < 0) {
    throw invalidField("compactThreshold", "tokens, a whole number; 0 compacts only by hand");
  }
}
