// A node as a process of its own, to be killed: the runtime on an embedded store or PostgreSQL with a scripted model.
// Its parent sends requests over the process channel and receives answers, frames and reports there; what has not left
// this process when it dies was never acknowledged. With `isServed` others can talk to it over HTTP and sockets. It
// ends by itself when its parent is gone.
import "./shift-clock.mjs";
import { writeSync } from "node:fs";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { createWebhookTransport } from "@parley/http/node";
import { openEmbedded } from "@parley/store/embedded";
import { openPostgres, openShards } from "@parley/store/postgres";
import pg from "pg";
import { KillPoints } from "./kill-points.mjs";
import { createScriptedModel, createTools } from "./scripted-model.mjs";

const {
  name,
  store: at,
  lease,
  isServed = false,
  pieceMs = 4,
  pieces,
  slowMs = 120,
  webhooks,
  files,
} = JSON.parse(process.env.PARLEY_NODE ?? "{}");
const owner = "client";
/** The file descriptor that the parent reads for `reached`. */
const reachedPipe = 4;

const report = (message, onSent) => {
  if (process.connected) process.send(message, undefined, undefined, onSent);
};

/**
 * Reports that the armed point is reached, over a pipe of its own. A message on the process channel waits behind others
 * in this process if the parent is busy, and would stay here once the process is suspended.
 */
const reportReached = () => {
  writeSync(reachedPipe, "reached\n");
};
const points = new KillPoints(report, reportReached);

/** Reports each message to the server to the points. */
class WatchedClient extends pg.Client {
  query(...given) {
    const result = super.query(...given);
    points.sent();
    return result;
  }
}

async function open() {
  if (at.folder !== undefined) return openEmbedded({ folder: at.folder, engine: at.engine });
  const options = { driver: { Client: WatchedClient }, connectTimeoutMs: 1_000, ...at.timeouts };
  const opened =
    at.shards === undefined
      ? openPostgres({ url: at.url, ...options })
      : openShards({ shards: at.shards, ...options });
  await opened.store.migrate();
  return opened;
}

/** Delivers to endpoints of this machine, with short waits, where every attempt can be a point. */
function webhookTransport() {
  const transport = createWebhookTransport({
    isAllowedAddress: () => true,
    resilience: { baseBackoffMs: 50, maxBackoffMs: 200 },
  });
  return {
    ...transport,
    async post(post) {
      points.passAt("post", "before");
      const answer = await transport.post(post);
      points.passAt("post", "after");
      return answer;
    },
  };
}

const { store, wake } = await open();
const watched = points.watch(store);
const runtime = await createRuntime({
  store: watched,
  wake,
  node: name,
  models: createModelCatalog([
    {
      name: "scripted/one",
      provider: createScriptedModel({ node: name, pieceMs, pieces, points }),
      providerName: "scripted",
      model: "one",
      contextWindow: 200_000,
    },
  ]),
  tools: createTools({ report, points, slowMs }),
  approvals: { askUser: true },
  lease,
  ...(files === undefined ? {} : { files: { limits: files } }),
  ...(webhooks === undefined ? {} : { webhooks: { transport: webhookTransport(), limits: webhooks } }),
  hooks: {
    onError(error, { where, conversationId }) {
      report({ type: "trouble", where, conversationId, code: error.code, message: error.message });
    },
  },
});
const me = runtime.forOwner(owner);
const subscriptions = new Map();

async function listen() {
  const { serve } = await import("@parley/server");
  // Checks of the node must not be rate limited.
  const limits = { requestsPerSecond: 100_000, requestBurst: 100_000 };
  return serve(runtime, { host: "127.0.0.1", port: 0, auth: "open", owner, limits });
}
const served = isServed ? await listen() : undefined;

function attach({ subscription, conversationId, cursor }) {
  const leave = me.attach(conversationId, cursor, {
    onFrame(frame) {
      report({ type: "frame", subscription, frame });
      if (frame.type === "chat.delta") points.pass("event", { type: frame.event.type });
    },
    onEnd(error) {
      subscriptions.delete(subscription);
      report({ type: "end", subscription, code: error?.code });
    },
  });
  subscriptions.set(subscription, leave);
}

/**
 * Passes a point at every frame for the followers of a conversation, and records the kinds of frames. Answered once it
 * follows: its first frames are the current state, and no point.
 */
const frames = [];
function watchFrames({ conversationId }) {
  return new Promise((resolve, reject) => {
    let hasJoined = false;
    me.attach(conversationId, "0", {
      onFrame(frame) {
        if (hasJoined) {
          frames.push(frame.type === "chat.delta" ? frame.event.type : frame.type);
          points.pass("frame", { conversationId });
        }
        hasJoined = true;
        resolve();
      },
      onEnd: reject,
    });
  });
}

/** Returns what a client receives that reconnects with a cursor while nothing runs. */
function resume({ conversationId, cursor }) {
  return new Promise((resolve, reject) => {
    const frames = [];
    const leave = me.attach(conversationId, cursor, {
      onFrame(frame) {
        frames.push(frame);
        if (frames.length > 1) return;
        // All that is missing comes in one go.
        setImmediate(() => {
          leave();
          resolve(frames);
        });
      },
      onEnd: reject,
    });
  });
}

const verbs = {
  send: (input) => me.send(input),
  add: (input) => me.queue.add(input),
  resumeQueue: ({ conversationId }) => me.queue.resume(conversationId),
  stop: ({ conversationId }) => me.stop(conversationId),
  compact: ({ conversationId, ...request }) => me.compact(conversationId, request),
  fork: (input) => me.fork(input),
  history: (query) => me.history(query),
  metrics: ({ conversationId }) => me.metrics(conversationId),
  turn: ({ conversationId, turnId }) => me.turn(conversationId, turnId),
  meta: ({ conversationId }) => me.meta(conversationId),
  create: (input) => me.create(input),
  /** The conversation in the store, with its lease holder. */
  record: ({ conversationId }) => store.forOwner(owner).get(conversationId),
  openTurn: ({ conversationId }) => store.forOwner(owner).readOpenTurn({ conversationId }),
  status: () => runtime.status(),
  hasFile: async ({ hash }) => (await store.forOwner(owner).findBlob(hash)) !== null,
  fileBytes: async () => (await me.files.usage()).bytes,
  addWebhook: (webhook) => me.webhooks.add(webhook),
  webhooks: () => me.webhooks.list(),
  attach,
  detach: ({ subscription }) => subscriptions.get(subscription)?.(),
  resume,
  arm: (plan) => points.arm(plan),
  watchFrames,
  frames: () => frames,
  async close() {
    await served?.close();
    await runtime.close();
    await wake.close?.();
    await store.close();
  },
};

process.on("message", async ({ id, verb, input }) => {
  const onSent = verb === "send" || verb === "add" ? () => points.pass("receipt") : undefined;
  try {
    const value = await verbs[verb](input);
    report({ type: "answer", id, value }, onSent);
    if (verb === "close") process.disconnect();
  } catch (error) {
    const { code, message, retryable } = error;
    report({ type: "answer", id, refused: { code: code ?? "none", message, retryable } });
  }
});
process.on("disconnect", () => process.exit(0));
report({ type: "ready", node: runtime.status().node, url: served?.url });
