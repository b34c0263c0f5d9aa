// One socket per turn: starts it, reads every delta and notes how long ago the upstream sent it.
import { setTimeout as delay } from "node:timers/promises";
import WebSocket from "ws";
import { answerQuestions } from "./load-child.mjs";

/** The turns start over this long, as those of many callers do. */
const START_MS = 2_000;

/** The sockets of each node. */
const rooms = new Map();
let rounds = 0;

/** Rejects once something went wrong on any socket: whoever waits for one of them is told. */
let fail;
const failure = new Promise((_, reject) => {
  fail = (why) => reject(new Error(why));
});
failure.catch(() => {});

answerQuestions({ open, start, streaming, count, end });

async function open({ name, url, keys, turns }) {
  const room = { readers: [], latencies: [], open: 0, firsts: 0, onEnd: () => {}, onFirst: () => {} };
  rooms.set(name, room);
  for (let index = 0; index < turns; index += 1) {
    const protocols = keys === undefined ? [] : ["parley.v1", `bearer.${keys[index]}`];
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, protocols, { perMessageDeflate: false });
    const reader = { socket, conversationId: "", deltas: 0 };
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    socket.on("message", (data) => read(room, reader, String(data)));
    socket.on("close", (code) => fail(`a socket of ${name} was closed with ${code}`));
    room.readers.push(reader);
  }
}

/** Starts a turn on every socket. */
async function start({ name }) {
  const room = rooms.get(name);
  rounds += 1;
  Object.assign(room, { latencies: [], open: room.readers.length, firsts: 0 });
  room.end = new Promise((resolve) => {
    room.onEnd = resolve;
  });
  room.first = new Promise((resolve) => {
    room.onFirst = resolve;
  });
  for (const [index, reader] of room.readers.entries()) {
    reader.deltas = 0;
    reader.conversationId = `${name.replace(/\W/g, "-")}-${rounds}-${index}`;
    const { conversationId } = reader;
    reader.socket.send(
      JSON.stringify({ type: "chat.send", conversationId, message: "Tell me about streams." }),
    );
    await delay(START_MS / room.readers.length);
  }
}

/** Resolves when every turn has had its first delta. */
async function streaming({ name }) {
  await Promise.race([rooms.get(name).first, failure]);
}

/** How many deltas were read so far. */
function count({ name }) {
  return { deltas: rooms.get(name).latencies.length };
}

/** Resolves when all turns are over, with the times that their deltas took. */
async function end({ name, deltas }) {
  const room = rooms.get(name);
  await Promise.race([room.end, failure]);
  const wrong = room.readers.find((reader) => reader.deltas !== deltas);
  if (wrong !== undefined)
    throw new Error(`${name}: ${wrong.conversationId} heard ${wrong.deltas} of ${deltas} deltas`);
  const sorted = Float64Array.from(room.latencies).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { deltas: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

function read(room, reader, text) {
  const message = JSON.parse(text);
  if (message.type === "chat.error") fail(`${message.code}: ${message.message}`);
  if (message.type !== "chat.delta" || message.event.conversationId !== reader.conversationId) return;
  const { event } = message;
  if (event.type === "turn-sealed") {
    if (event.reason !== undefined && event.reason !== "stop") fail(`a turn ended with ${event.reason}`);
    room.open -= 1;
    if (room.open === 0) room.onEnd();
    return;
  }
  if (event.type !== "text-delta") return;
  const now = Number(process.hrtime.bigint() / 1_000n);
  // What was told before the reader joined comes as one event: as late as its oldest delta.
  for (const sentAt of event.delta.trim().split(" ")) {
    room.latencies.push((now - Number.parseInt(sentAt, 36)) / 1_000);
    reader.deltas += 1;
    if (reader.deltas === 1) {
      room.firsts += 1;
      if (room.firsts === room.readers.length) room.onFirst();
    }
  }
}
