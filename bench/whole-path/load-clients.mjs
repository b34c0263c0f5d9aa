// Many concurrent turns, each followed by its own socket, in a separate process: the delay of each delta.
import { now } from "./upstream.mjs";
import { openReader } from "./websocket-reader.mjs";

/**
 * Opens a socket per conversation and returns. On `start`, each sends its message, spread over two seconds.
 * On `mark`, discards its measurements; on `report`, sends them.
 */
export async function drive({ url, conversations }) {
  const port = Number(new URL(url).port);
  let latencies = [];
  let sealed = 0;
  let failure;
  const marker = '"delta":"';
  const onFrame = (bytes, start, end) => {
    const text = bytes.latin1Slice(start, end);
    const at = text.indexOf(marker);
    if (at !== -1 && text.includes('"text-delta"')) {
      // Deltas published before the socket joined arrive in one piece, under its first stamp.
      latencies.push(now() - Number.parseFloat(text.slice(at + marker.length)));
    } else if (text.includes('"turn-sealed"')) sealed += 1;
    else if (text.startsWith('{"type":"chat.error"')) failure ??= text;
  };
  const sockets = [];
  for (const { id: conversationId, secret } of conversations)
    sockets.push({ conversationId, socket: await openReader(port, onFrame, secret) });

  const start = () => {
    for (const [index, { conversationId, socket }] of sockets.entries()) {
      setTimeout(
        () => socket.send({ type: "chat.send", conversationId, message: "Tell me about streams." }),
        (index / sockets.length) * 2_000,
      );
    }
  };
  const report = () => {
    const sorted = Float64Array.from(latencies).sort();
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return {
      deltas: sorted.length,
      sealed,
      failure,
      ...(sorted.length === 0 ? {} : { p50: at(0.5), p99: at(0.99), most: at(1) }),
    };
  };
  process.on("message", ({ ask }) => {
    if (ask === "start") start();
    else if (ask === "mark") latencies = [];
    else if (ask !== "report") return;
    process.send(report());
  });
  return sockets.length;
}
