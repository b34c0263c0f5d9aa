// A model's API on 127.0.0.1 with the Responses protocol: the same answer to every request, at full speed or
// paced.
import { createServer } from "node:http";
import { encodeStream } from "../responses-stream.mjs";

/** Returns the time that a paced delta is stamped with: epoch milliseconds, and a space. */
export const now = () => performance.timeOrigin + performance.now();

/** Placeholder for the stamp of a delta: as long as a stamp, so that lengths stay the same. */
const stampLength = 18;
const mark = "#".repeat(stampLength);
const stamp = () => now().toFixed(3).padEnd(stampLength, " ");

/**
 * Starts the API; `perSecond` 0 is full speed. With `stamped`, each delta contains its send time. In a
 * separate process it answers at full speed from the message `hurry` until the message `pace`.
 */
export async function startUpstream({ deltas, perSecond = 0, stamped = false }) {
  const events = encodeStream(deltas, stamped ? () => mark : undefined);
  const pieces = stamped ? events.map((event) => event.toString().split(mark)) : [];
  // The last events repeat the whole answer, which stays unmarked; only increments are stamped.
  const encode = (index) => {
    const cut = pieces[index];
    return cut?.length === 2 ? `${cut[0]}${stamp()}${cut[1]}` : events[index];
  };
  let hurries = false;
  process.on("message", ({ ask }) => {
    if (ask !== "hurry" && ask !== "pace") return;
    hurries = ask === "hurry";
    process.send({ hurries });
  });
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "x-request-id": "req_0123456789",
    });
    if (perSecond > 0 && !hurries) sendPaced(response, { count: events.length, encode, perSecond });
    else sendFast(response, events);
  });
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${server.address().port}/v1`;
}

/** Sends every event as a separate write, as an API does, and the next one at once. */
function sendFast(response, events) {
  let sent = 0;
  const next = () => {
    if (response.destroyed) return;
    const canContinue = response.write(events[sent++]);
    if (sent === events.length) response.end();
    else if (canContinue) setImmediate(next);
    else response.once("drain", next);
  };
  next();
}

/**
 * Answers in progress. One clock for all of them: separate timers would fire together, in bursts that no API
 * has.
 */
const paced = new Set();

/** Offset between the beats of consecutive answers, in beats: spreads any number of them evenly. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;
let asked = 0;

/**
 * Sends each answer at its own beat, as those of many callers have, even if they were requested at the same
 * time: otherwise a server that forwards requests at once would wake up once for all of them, and one that
 * first stores them for each.
 */
function sendPaced(response, { count, encode, perSecond }) {
  const startedAt = performance.now() + ((asked++ * goldenRatio) % 1) * (1_000 / perSecond);
  let sent = 0;
  const send = (at) => {
    const due = Math.min(count, Math.ceil(((at - startedAt) / 1_000) * perSecond));
    while (sent < due) response.write(encode(sent++));
    if (sent < count) return;
    paced.delete(send);
    response.end();
  };
  paced.add(send);
  response.on("close", () => paced.delete(send));
  if (paced.size === 1) tick();
}

function tick() {
  const at = performance.now();
  for (const send of paced) send(at);
  if (paced.size > 0) setTimeout(tick, 1);
}
