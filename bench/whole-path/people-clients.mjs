// People who talk at a steady rate, each with a key, a conversation and a socket, in a separate process.
import { now } from "./upstream.mjs";
import { openReader } from "./websocket-reader.mjs";

const portOf = (url) => Number(new URL(url).port);

/**
 * Opens a socket for each person, at the nodes in turn. On `start`, each sends a message every `everyMs`, spread
 * evenly; one whose answer has not ended sends the next message when it has. With `followed`, each person has a second
 * socket that follows the conversation through the next node. On `mark`, discards its measurements; on `report`, sends
 * them; on `stop`, sends no more messages and reports when all answers have ended.
 */
export async function talk({ urls, people, everyMs, followed = false }) {
  let latencies = [];
  let ended = 0;
  let late = 0;
  let bytes = 0;
  let failure;
  let isStopped = false;
  const running = new Set();
  const marker = '"delta":"';

  const receive = (person) => (data, start, end) => {
    bytes += end - start;
    const text = data.latin1Slice(start, end);
    const at = text.indexOf(marker);
    if (at !== -1 && text.includes('"text-delta"')) {
      // Deltas published before the socket joined arrive in one piece, with the stamp of the first one.
      latencies.push(now() - Number.parseFloat(text.slice(at + marker.length)));
    } else if (text.startsWith('{"type":"chat.error"')) failure ??= text;
    else if (text.includes('"turn-sealed"')) endTurn(person);
  };
  const endTurn = (person) => {
    if (!running.delete(person)) return;
    ended += 1;
    if (!person.isDue || isStopped) return;
    late += 1;
    send(person);
  };
  const send = (person) => {
    person.isDue = false;
    running.add(person);
    person.socket.send({ type: "chat.send", conversationId: person.id, message: "Tell me about streams." });
  };

  const all = [];
  for (const [index, { id, secret }] of people.entries()) {
    const person = { id, isDue: false };
    // The socket that is read counts: a person who follows elsewhere reads there.
    const ignore = () => {};
    const at = (offset) => portOf(urls[(index + offset) % urls.length]);
    person.socket = await openReader(at(0), followed ? ignore : receive(person), secret);
    if (followed) {
      const reader = await openReader(at(1), receive(person), secret);
      reader.send({ type: "chat.subscribe", conversationId: id });
    }
    all.push(person);
  }

  const start = () => {
    for (const [index, person] of all.entries()) {
      const next = () => {
        if (isStopped) return;
        if (running.has(person)) person.isDue = true;
        else send(person);
        setTimeout(next, everyMs);
      };
      setTimeout(next, (index / all.length) * everyMs);
    }
  };
  const report = () => {
    const sorted = Float64Array.from(latencies).sort();
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return {
      deltas: sorted.length,
      turns: ended,
      late,
      bytes,
      running: running.size,
      failure,
      p50: at(0.5),
      p99: at(0.99),
    };
  };
  process.on("message", ({ ask }) => {
    if (ask === "start") start();
    else if (ask === "stop") isStopped = true;
    else if (ask === "mark") {
      latencies = [];
      ended = 0;
      late = 0;
      bytes = 0;
    } else if (ask !== "report") return;
    process.send(report());
  });
  return all.length;
}

/** Opens sockets that receive nothing, at one node, with the given keys in turn. */
export async function idle({ url, secrets, sockets }) {
  for (let index = 0; index < sockets; index += 1)
    await openReader(portOf(url), () => {}, secrets[index % secrets.length]);
  return sockets;
}
