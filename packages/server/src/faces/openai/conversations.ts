import type { OwnerRuntime } from "@parley/core/runtime";
import { faceEndpoint } from "../../http/endpoint.js";
import { RequestRefusal } from "../../http/request-refusal.js";
import { refusal } from "./failure.js";
import { conversationItemId, parseConversationId, parseItemId } from "./ids.js";
import { parseItem } from "./input-items.js";
import type { ConversationItem } from "./items.js";
import { pageOf } from "./list-items.js";
import { pageItems, readAppended, readItem } from "./page-items.js";
import { seconds } from "./response-object.js";
import {
  conversationAnswer,
  conversationBody,
  conversationUpdate,
  deletedAnswer,
  idParams,
  itemAnswer,
  itemParams,
  itemsBody,
  listAnswer,
  listQuery,
} from "./schemas.js";

type Fields = Record<string, unknown>;

/** Returns a conversation as this protocol shows it: of its metadata, the pairs that the protocol knows. */
async function conversationObject(me: OwnerRuntime, id: string) {
  const { createdAt, metadata = {} } = await found(me.meta(id), id);
  const pairs = Object.entries(metadata).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  return {
    id: conversationItemId(id),
    object: "conversation" as const,
    created_at: seconds(createdAt),
    metadata: Object.fromEntries(pairs),
  };
}

async function found<T>(read: Promise<T>, id: string): Promise<T> {
  return read.catch((error: { code?: unknown }) => {
    // A refusal that names something else, such as an item, stays as it is.
    if (error.code !== "conversation_not_found" || error instanceof RequestRefusal) throw error;
    throw refusal(404, `Conversation with id '${conversationItemId(id)}' not found.`, {
      code: "conversation_not_found",
      param: "conversation_id",
    });
  });
}

/** Appends items, each as a message of its own, and returns them as they are listed. */
async function addItems(me: OwnerRuntime, id: string, items: readonly Fields[]): Promise<ConversationItem[]> {
  const messages = items.map((item, index) => parseItem(item, `items.${index}`));
  const ids = await found(me.append(id, messages), id);
  return readAppended({ me, conversationId: id }, ids);
}

export const conversationEndpoints = [
  faceEndpoint("POST /conversations", {
    operationId: "openaiCreateConversation",
    holdsFiles: true,
    summary: "Create a conversation",
    access: "write",
    body: conversationBody,
    response: conversationAnswer,
    async handle({ body, me }) {
      const { conversation } = await me.create({ metadata: body.metadata ?? {} });
      const { id } = conversation;
      if (body.items !== undefined && body.items !== null && body.items.length > 0) {
        await addItems(me, id, body.items);
      }
      return conversationObject(me, id);
    },
  }),
  faceEndpoint("GET /conversations/:id", {
    operationId: "openaiGetConversation",
    summary: "Read a conversation",
    access: "read",
    params: idParams,
    response: conversationAnswer,
    handle: ({ params, me }) => conversationObject(me, parseConversationId(params.id)),
  }),
  faceEndpoint("POST /conversations/:id", {
    operationId: "openaiUpdateConversation",
    summary: "Replace the metadata of a conversation",
    access: "write",
    params: idParams,
    body: conversationUpdate,
    response: conversationAnswer,
    async handle({ params, body, me }) {
      const id = parseConversationId(params.id);
      const { metadata = {} } = await found(me.settings(id), id);
      const kept = Object.entries(metadata).filter(([, value]) => typeof value !== "string");
      await me.set(id, { metadata: { ...Object.fromEntries(kept), ...body.metadata } });
      return conversationObject(me, id);
    },
  }),
  faceEndpoint("DELETE /conversations/:id", {
    operationId: "openaiDeleteConversation",
    summary: "Delete a conversation",
    access: "write",
    params: idParams,
    response: deletedAnswer,
    async handle({ params, me }) {
      const id = parseConversationId(params.id);
      await found(me.meta(id), id);
      await me.remove(id);
      return { id: conversationItemId(id), object: "conversation.deleted", deleted: true as const };
    },
  }),
  faceEndpoint("GET /conversations/:id/items", {
    operationId: "openaiListItems",
    summary: "List the items of a conversation, newest first",
    access: "read",
    params: idParams,
    query: listQuery,
    response: listAnswer,
    handle({ params, query, me }) {
      const conversationId = parseConversationId(params.id);
      return found(pageItems({ me, conversationId }, query), conversationId);
    },
  }),
  faceEndpoint("POST /conversations/:id/items", {
    operationId: "openaiCreateItems",
    refusals: [409],
    holdsFiles: true,
    summary: "Append items outside a turn; the next one sees them",
    access: "write",
    params: idParams,
    body: itemsBody,
    response: listAnswer,
    async handle({ params, body, me }) {
      return pageOf(await addItems(me, parseConversationId(params.id), body.items), false);
    },
  }),
  faceEndpoint("GET /conversations/:id/items/:item", {
    operationId: "openaiGetItem",
    summary: "Read an item",
    access: "read",
    params: itemParams,
    response: itemAnswer,
    async handle({ params, me }) {
      const conversationId = parseConversationId(params.id);
      const item = await found(readItem({ me, conversationId }, params.item), conversationId);
      return item as object as Fields;
    },
  }),
  faceEndpoint("DELETE /conversations/:id/items/:item", {
    operationId: "openaiDeleteItem",
    refusals: [409],
    summary: "Hide an item from lists and from the model",
    access: "write",
    params: itemParams,
    response: conversationAnswer,
    async handle({ params, me }) {
      const id = parseConversationId(params.id);
      const item = await found(readItem({ me, conversationId: id }, params.item), id);
      const place = parseItemId(item.id);
      if (place !== undefined) await me.hide(id, place);
      return conversationObject(me, id);
    },
  }),
];
