import { checkOfChunk, omitUndefined, pageCursor } from "@parley/fold";
import type { LastResponse } from "@parley/wire";
import { invalidField } from "../../errors.js";
import { textOf } from "../../messages/message.js";
import { effectiveChoices, toMeta } from "../conversation-meta.js";
import { waitingInfo } from "../input/waiting-info.js";
import { singleResponse } from "../nodes/retention.js";
import { exportConversation } from "../transfer/export-conversation.js";
import { answerUsage } from "../usage/usage-range.js";
import { conversationDetail, turnDetail } from "./conversation-detail.js";
import type { OwnerRuntime } from "./owner-runtime.js";
import type { OwnerScope } from "./owner-scope.js";
import { untilSealed } from "./until-sealed.js";

const defaultListLimit = 50;
const mostListed = 200;

type ReadingVerbs = Pick<
  OwnerRuntime,
  | "list"
  | "meta"
  | "settings"
  | "history"
  | "metrics"
  | "usage"
  | "branchOf"
  | "turnOf"
  | "turn"
  | "seqOf"
  | "findTurn"
  | "last"
  | "exportLines"
  | "search"
>;

/** Creates an owner's read operations. They change nothing. */
export function readingVerbs(scope: OwnerScope): ReadingVerbs {
  const { owner, env, store, coordinator, find } = scope;
  return {
    async list(query = {}) {
      const limit = Math.min(mostListed, Math.max(1, query.limit ?? defaultListLimit));
      const { conversations, next } = await store.list({
        limit,
        ...(query.withResponses ? {} : { withoutOrigin: singleResponse.origin }),
        ...(query.q === undefined || query.q === "" ? {} : { q: query.q }),
        ...(query.pinned === "first" ? { pinnedFirst: true } : {}),
        ...(query.model === undefined ? {} : modelFilter(env.models.defaultModel, query.model)),
        ...omitUndefined({ status: query.status, parent: query.parent, before: query.before }),
      });
      return {
        conversations: conversations.map((record) => toMeta(env, record)),
        ...omitUndefined({ nextBefore: next }),
      };
    },
    async meta(conversationId) {
      const [record, { chunks }] = await Promise.all([
        find(conversationId),
        store.readChunks({ conversationId, limit: 1, open: true }),
      ]);
      return conversationDetail(
        env,
        owner,
        record,
        coordinator.active(record.log),
        checkOfChunk(chunks.at(-1)),
      );
    },
    async settings(conversationId) {
      const record = await find(conversationId);
      const { title, model, reasoningEffort, instructions, compactThreshold, metadata, pinned, temporary } =
        record;
      const effective = effectiveChoices(env, record);
      const window = env.ownerModels.windowOf(owner, effective.model);
      return {
        title,
        effective,
        ...omitUndefined({ compactThreshold }),
        ...(window === undefined
          ? {}
          : { defaultThreshold: env.compaction.threshold({ contextWindow: window }) }),
        ...omitUndefined({ model, reasoningEffort, instructions, metadata, pinned, temporary }),
      };
    },
    async history({ conversationId, sinceSeq, beforeSeq, limit, open }) {
      checkBounds({ sinceSeq, beforeSeq, limit });
      const page = await store.readChunks({
        conversationId,
        ...omitUndefined({ sinceSeq, beforeSeq, limit, open }),
      });
      const cursor = pageCursor(page.chunks);
      return { ...page, ...omitUndefined({ cursor }) };
    },
    async metrics(conversationId, { limit, before } = {}) {
      checkBounds({ limit });
      return store.metrics(conversationId, omitUndefined({ limit, before }));
    },
    async usage(query = {}) {
      if (query.by === "owner") throw invalidField("by", "`owner` needs the usage of all owners");
      await env.spending.settled(owner);
      return answerUsage(store, query, env.clock.now());
    },
    branchOf: async (chatId) => (await store.branchOf(chatId)) ?? chatId,
    turnOf: async (conversationId, messageId) => (await store.findMessage(conversationId, messageId))?.turnId,
    turn: (conversationId, turnId) => turnDetail(store, conversationId, turnId),
    seqOf: async (conversationId, messageId) =>
      (await store.findMessage(conversationId, messageId))?.firstSeq,
    async findTurn(turnId) {
      for (const conversationId of await store.findTurn(turnId)) {
        const found = await store.readTurn(conversationId, turnId);
        if (found !== null) return { conversationId, ...found };
      }
      return undefined;
    },
    last: (conversationId, options) => lastAnswer(scope, conversationId, options?.signal),
    exportLines: (conversationId) => exportConversation(store, conversationId),
    async search({ q, limit = defaultListLimit, conversationId }) {
      if (q.trim() === "") throw invalidField("q", "what to search for");
      if (conversationId !== undefined) await find(conversationId);
      // A user that searches will probably search again soon.
      env.searchIndexer.wake(owner);
      return store.search({
        q,
        limit: Math.min(mostListed, Math.max(1, limit)),
        ...omitUndefined({ conversationId }),
      });
    },
  };
}

/** Returns the requested model, and the one that conversations without any use. */
function modelFilter(defaultModel: string | undefined, model: string) {
  return { model, ...omitUndefined({ defaultModel }) };
}

async function lastAnswer(
  scope: OwnerScope,
  conversationId: string,
  signal: AbortSignal | undefined,
): Promise<LastResponse> {
  const { store } = scope;
  let record = await scope.find(conversationId);
  if (record.active?.purpose === "turn" && record.active.waitingSince === undefined) {
    await untilSealed(scope, conversationId, record.active.turnId, signal);
    record = await scope.find(conversationId);
  }
  const waiting = record.active?.waitingSince === undefined ? undefined : waitingInfo(record.active);
  let before: number | undefined;
  do {
    const page = await store.readNewest({
      conversationId,
      limit: 50,
      ...omitUndefined({ before }),
    });
    for (const { message, turnId } of page.entries) {
      const text = textOf(message);
      if (message.role !== "assistant" || text === "") continue;
      const turn = turnId === undefined ? null : await store.readTurn(conversationId, turnId);
      const reason = turn?.turn.reason;
      return {
        conversationId,
        text,
        content: text,
        ...omitUndefined({ turnId, reason, waiting }),
      };
    }
    before = page.before;
  } while (before !== undefined);
  return { conversationId, text: "", content: "", ...omitUndefined({ waiting }) };
}

function checkBounds(bounds: { readonly [name: string]: number | undefined }): void {
  for (const [name, value] of Object.entries(bounds)) {
    if (value !== undefined && (!Number.isInteger(value) || value < 0)) {
      throw invalidField(name, "a whole number of at least 0");
    }
  }
}
