// Many sockets that only count: all but the first are bare connections, so that the clients do not slow the server down.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import WebSocket from "ws";
import { answerQuestions } from "./load-child.mjs";

const SUBSCRIBE = JSON.stringify({ type: "chat.subscribe", conversationId: "fan-out" });
const MARK = Buffer.from('"text-delta"');
/** What tells that a turn is over; nothing but the idle status comes behind it. */
const END = '"turn-sealed"';

/** Per server: the sockets' counts, and what the first of them reads. */
const rooms = new Map();

/** Rejects once something went wrong on any socket: whoever waits for them is told. */
let fail;
const failure = new Promise((_, reject) => {
  fail = (why) => reject(new Error(why));
});
failure.catch(() => {});

answerQuestions({ open, expect, heard, record });

async function open({ name, url, protocol, sockets }) {
  const room = { counts: new Uint32Array(sockets), frames: [], end: undefined, ended: () => {} };
  rooms.set(name, room);
  const subscribes = protocol !== undefined;
  await openReader(room, url, protocol, subscribes);
  // A few at a time: a listening socket's backlog is short.
  for (let from = 1; from < sockets; from += 50) {
    const indexes = Array.from({ length: Math.min(50, sockets - from) }, (_, n) => from + n);
    await Promise.all(indexes.map((index) => openCounter(room, index, url, protocol, subscribes)));
  }
  await delay(500);
  for (const [index, count] of room.counts.entries())
    if (count !== 0) throw new Error(`socket ${index} heard ${count} deltas before the first turn`);
}

/** Before a turn: counts anew. */
function expect({ name }) {
  const room = rooms.get(name);
  room.counts.fill(0);
  room.frames = [];
  room.end = new Promise((resolve) => {
    room.ended = resolve;
  });
}

/** Resolves when every socket has heard that many deltas and the first one the end of the turn. */
async function heard({ name, deltas }) {
  const room = rooms.get(name);
  await Promise.race([room.end, failure]);
  while (!room.counts.every((count) => count >= deltas)) await delay(5);
  await delay(200);
  const wrong = room.counts.findIndex((count) => count !== deltas);
  if (wrong !== -1) throw new Error(`socket ${wrong} heard ${room.counts[wrong]} of ${deltas} deltas`);
  return { frames: room.frames.length };
}

/** What the first socket read in the last round. */
function record({ name }) {
  return { texts: rooms.get(name).frames };
}

async function openReader(room, url, protocol, subscribes) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, protocol === undefined ? [] : [protocol], {
    perMessageDeflate: false,
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("message", (data) => {
    const text = data.toString();
    room.frames.push(text);
    room.counts[0] += text.split('"text-delta"').length - 1;
    if (text.includes(END)) room.ended();
  });
  socket.on("close", (code) => fail(`a socket was closed with ${code}`));
  if (subscribes) socket.send(SUBSCRIBE);
}

async function openCounter(room, index, url, protocol, subscribes) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", (error) => fail(`a socket failed: ${error.message}`));
  socket.on("close", () => fail("a socket was closed"));
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(
    [
      "GET /ws HTTP/1.1",
      `host: ${hostname}:${port}`,
      "connection: Upgrade",
      "upgrade: websocket",
      "sec-websocket-version: 13",
      `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
      ...(protocol === undefined ? [] : [`sec-websocket-protocol: ${protocol}`]),
      "\r\n",
    ].join("\r\n"),
  );
  const [answer] = await new Promise((resolve) => socket.once("data", (data) => resolve([data.toString()])));
  if (!answer.startsWith("HTTP/1.1 101")) throw new Error(`no socket: ${answer.split("\r\n")[0]}`);
  const counter = createMarkCounter();
  socket.on("data", (data) => {
    room.counts[index] += counter(data);
  });
  if (subscribes) socket.write(clientFrame(SUBSCRIBE));
}

/** Counts the mark in a stream of bytes, also where it lies across two pieces. */
function createMarkCounter() {
  let tail = Buffer.alloc(0);
  return (data) => {
    let found = 0;
    const seam = Buffer.concat([tail, data.subarray(0, MARK.length - 1)]);
    if (seam.includes(MARK)) found += 1;
    for (let at = data.indexOf(MARK); at !== -1; at = data.indexOf(MARK, at + MARK.length)) found += 1;
    tail = Buffer.from(data.subarray(-(MARK.length - 1)));
    return found;
  };
}

/** A short text as a client's frame, under a mask of zeros. */
function clientFrame(text) {
  const header = Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]);
  if (text.length > 125) throw new Error("too long for a short frame");
  return Buffer.concat([header, Buffer.from(text)]);
}
