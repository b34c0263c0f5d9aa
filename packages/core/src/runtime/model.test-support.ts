import { checkLog } from "@parley/testing";
import { expect } from "vitest";
import type { LogStore } from "../ports/log-store.js";
import type { Client, Cluster, ClusterNode } from "./cluster.test-support.js";
import { decodeBatch } from "./delivery/journal-batch.js";

/** Known state of a message that was sent. */
export type Fate = "acknowledged" | "unknown" | "removed";

export interface ConversationModel {
  readonly id: string;
  readonly messages: Map<string, Fate>;
  /** Log that a fork had in common with its origin when it was made. */
  readonly prefix: string[];
  /** Turns that were seen sealed, as they were then. */
  readonly sealed: Map<string, string>;
  /** Results that a client received, by call. */
  readonly results: Map<string, string>;
  summaries: number;
}

/** The simple model: the facts that have been acknowledged. Everything else is read from the store. */
export interface Model {
  readonly conversations: Map<string, ConversationModel>;
  sent: number;
}

export interface Real {
  readonly cluster: Cluster;
  readonly store: LogStore;
  readonly nodes: ClusterNode[];
  readonly clients: { conversationId: string; client: Client }[];
  /** Nodes that are cut off from the store. */
  readonly cutOff: Set<ClusterNode>;
}

/** Checks what must hold after every command. */
export async function expectInvariants(model: Model, real: Real): Promise<void> {
  for (const conversation of [...model.conversations.values()]) {
    const record = await real.store.get(conversation.id);
    if (record === null) {
      // No acknowledged message is in a conversation that does not exist.
      expect([...conversation.messages.values()].filter((outcome) => outcome === "acknowledged")).toEqual([]);
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
  for (const [messageId, outcome] of conversation.messages) {
    const count = places.get(messageId) ?? 0;
    if (outcome === "acknowledged") expect([messageId, count]).toEqual([messageId, 1]);
    else if (outcome === "removed") expect([messageId, count]).toEqual([messageId, 0]);
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

  const log = [...real.cluster.database.logs.values()].find(({ id }) => id === conversationId);
  if (log?.active === undefined) expect(log?.journal).toEqual([]);
  const durable = new Map<string, string[]>();
  const note = (call: string, content: string) => durable.set(call, [...(durable.get(call) ?? []), content]);
  for (const { chunk } of chunks) {
    if (chunk.type === "tool-result") note(`${chunk.stepId} ${chunk.toolCallId}`, chunk.content);
  }
  for (const batch of log?.journal ?? []) {
    for (const { event } of decodeBatch(conversationId, batch)) {
      if (event.type === "tool-result") note(`${event.stepId} ${event.toolCallId}`, event.content);
    }
  }
  for (const [call, content] of conversation.results)
    expect([call, durable.get(call)]).toEqual([call, [content]]);
}

/** Checks the state after everything has ended: nothing runs, and every client that reconnects shows the log. */
export async function expectTheEnd(model: Model, real: Real): Promise<void> {
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
