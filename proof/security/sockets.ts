import { setTimeout as sleep } from "node:timers/promises";
import type { WsClientMessage, WsServerMessage } from "@parley/wire";
import type { TestSocket } from "../../packages/server/src/test-server.test-support.js";
import type { Area } from "./ledger.js";
import { type Household, unknownLike } from "./owners.js";
import type { Secrets } from "./secrets.js";
import type { Target } from "./target.js";

type MessageType = WsClientMessage["type"];
type Refusal = Extract<WsServerMessage, { type: "chat.error" | "error" }>;

/** Every message that a client can send, about a conversation. A new kind of message does not compile until it is here. */
const messages: {
  readonly [Type in MessageType]: (id: string) => readonly (WsClientMessage & { type: Type })[];
} = {
  "chat.send": (conversationId) => [
    { type: "chat.send", conversationId, message: "hello" },
    { type: "chat.send", conversationId, message: "hello", messageId: "taken", ifBusy: "queue" },
  ],
  "chat.subscribe": (conversationId) => [
    { type: "chat.subscribe", conversationId },
    { type: "chat.subscribe", conversationId, cursor: "0" },
    { type: "chat.subscribe", conversationId, cursor: "1~turn~1~0" },
  ],
  "chat.unsubscribe": (conversationId) => [{ type: "chat.unsubscribe", conversationId }],
  "chat.queue": (conversationId) => [
    { type: "chat.queue", conversationId, text: "hello" },
    { type: "chat.queue", conversationId, text: "hello", messageId: "taken", mode: "queue" },
  ],
  "chat.stop": (conversationId) => [{ type: "chat.stop", conversationId }],
  "chat.respond": (conversationId) => [
    { type: "chat.respond", conversationId, requestId: "t.0.0", decision: "deny" },
    { type: "chat.respond", conversationId, requestId: "t.0.0", decision: "allow", argumentsHash: "00" },
  ],
  subscribe: (conversationId) => [{ type: "subscribe", surfaceId: "message-queue", conversationId }],
  unsubscribe: (conversationId) => [{ type: "unsubscribe", surfaceId: "message-queue", conversationId }],
  ping: () => [{ type: "ping" }],
};

/** Those that do not reveal if there is such a conversation: they get no answer, or the same one always. */
const silent = new Set<MessageType>(["chat.unsubscribe", "unsubscribe", "ping"]);
/** Those that create a conversation for an unknown id, also for one that another owner has: one of the sender's own. */
const making = new Set<MessageType>(["chat.send", "chat.queue"]);

const messageTypes = Object.keys(messages) as MessageType[];

/** Sends every message that a socket accepts as another owner, about every conversation of the house. */
export async function attackBySocket(
  target: Target,
  house: Household,
  thief: { readonly key: string; readonly patienceMs?: number },
  area: Area,
  secrets: Secrets,
): Promise<void> {
  const before = await house.describe();
  const { patienceMs = 10_000 } = thief;
  const socket = await target.socket({ key: thief.key });
  await socket.next("catalog");
  for (const victim of house.ids) {
    const unknown = unknownLike(victim);
    for (const type of messageTypes) {
      for (const [index, message] of messages[type](victim).entries()) {
        const what = `${type} on ${victim}`;
        // A client that creates a conversation follows it: on a socket of its own, so that no other one receives its
        // removal.
        const maker = making.has(type) ? await target.socket({ key: thief.key }) : undefined;
        await maker?.next("catalog");
        const refusal = await sendAndRead(
          maker ?? socket,
          message,
          silent.has(type) ? undefined : patienceMs,
        );
        maker?.raw.terminate();
        if (silent.has(type)) area.attempt(what, refusal === undefined, JSON.stringify(refusal));
        else if (making.has(type)) {
          area.attempt(what, refusal === undefined, JSON.stringify(refusal));
          await target.call({ method: "DELETE", path: `/conversations/${victim}`, key: thief.key });
        } else {
          const other = messages[type](unknown)[index];
          const unowned = other === undefined ? undefined : await sendAndRead(socket, other, patienceMs);
          const isSame =
            refusal !== undefined &&
            JSON.stringify(refusal).replaceAll(victim, "<id>") ===
              (JSON.stringify(unowned) ?? "").replaceAll(unknown, "<id>");
          area.attempt(what, isSame, JSON.stringify([refusal, unowned]));
        }
      }
    }
  }
  area.attempt(
    "all of it together changes something of the house",
    // After a deletion the house cannot be described any more.
    (await house.describe().catch((error: unknown) => String(error))) === before,
    "the house is not as it was",
  );
  await eavesdrop(target, house, socket, area);
  area.searched("what the thief's socket received", secrets.findIn(JSON.stringify(socket.messages)));
  socket.raw.terminate();

  const honest = await target.socket({ key: house.key });
  honest.send({ type: "chat.subscribe", conversationId: house.ids[0], cursor: "0" });
  const chunks = await within(honest.next("chat.chunks"), 10_000);
  area.control("the owner follows", chunks !== undefined);
  honest.raw.terminate();
}

/** Checks that a socket of another owner receives nothing of what the owner does. */
async function eavesdrop(target: Target, house: Household, thief: TestSocket, area: Area): Promise<void> {
  const me = target.runtime.forOwner(house.owner);
  const own = await target.socket({ key: house.key });
  await own.next("catalog");
  const from = thief.messages.length;
  const id = `${house.owner}-noise`;
  // A push is received once the socket's watch has started, which the first of these shows.
  await me.create({ id, title: "noise" });
  const created = await within(own.next("conversation.updated"), 10_000);
  area.control("the owner's socket receives a new conversation", created !== undefined);
  own.send({ type: "chat.subscribe", conversationId: id });
  await me.send({ conversationId: id, message: "wait a moment" });
  await me.queue.add({ conversationId: id, message: "later", mode: "queue" });
  await me.stop(id);
  await me.last(id);
  for (const message of ["one", "two", "three"]) {
    await me.send({ conversationId: id, message });
    await me.last(id);
  }
  await me.compact(id, { keepLastN: 1 });
  await me.set(id, { title: "other noise" });
  await me.close(id);
  await me.open(id);
  await me.fork({ conversationId: id, atSeq: 0, id: `${id}-fork` });
  await me.remove(id, { cascade: true });
  const gone = await within(
    own.next("conversation.removed", ({ conversationId }) => conversationId === id),
    10_000,
  );
  area.control("the owner's socket receives the end", gone !== undefined);
  thief.send({ type: "ping" });
  await thief.next("pong");
  const pushed = thief.messages.slice(from).filter(({ type }) => type !== "pong");
  const acts = own.messages.length;
  for (let act = 0; act < acts; act += 1) area.attempts += 1;
  if (pushed.length > 0)
    area.accepted.push(`${area.name}: received ${JSON.stringify(pushed[0]).slice(0, 200)}`);
  own.raw.terminate();
}

/** Sends a message, and returns the refusal it gets in time. Without a time none is expected, and a ping follows. */
async function sendAndRead(
  socket: TestSocket,
  message: WsClientMessage,
  patienceMs: number | undefined,
): Promise<Refusal | undefined> {
  const from = socket.messages.length;
  const isRefusal = (answer: WsServerMessage): answer is Refusal =>
    answer.type === "chat.error" || answer.type === "error";
  // Pushes about the owner's own actions come beside the answers.
  const isAnswer = ({ type }: WsServerMessage) => type !== "pong" && !type.startsWith("conversation.");
  socket.send(message);
  if (patienceMs === undefined) {
    socket.send({ type: "ping" });
    await socket.next("pong");
    if (message.type === "ping") await socket.next("pong");
    return socket.messages.slice(from).find(isRefusal);
  }
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const answer = socket.messages.slice(from).find(isAnswer);
    if (answer !== undefined) return isRefusal(answer) ? answer : undefined;
    await sleep(5);
  }
  return undefined;
}

/** Returns the result of a promise within some time, or undefined. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const late = new AbortController();
  try {
    return await Promise.race([
      promise.catch(() => undefined),
      sleep(ms, undefined, { signal: late.signal }).catch(() => undefined),
    ]);
  } finally {
    late.abort();
  }
}
