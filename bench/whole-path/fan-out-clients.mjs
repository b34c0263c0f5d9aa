// Many sockets that follow one conversation, in a separate process: counts the messages that reach them.
import { openReader } from "./websocket-reader.mjs";

/** Opens the sockets, subscribes each, and reports on request what they have received in total. */
export async function follow({ url, sockets, subscribe }) {
  let deltas = 0;
  let messages = 0;
  const port = Number(new URL(url).port);
  for (let index = 0; index < sockets; index += 1) {
    // A delta's frame is recognized by the start of its text, without parsing it.
    const socket = await openReader(port, (bytes, start, end) => {
      messages += 1;
      if (bytes.latin1Slice(start, Math.min(end, start + 60)).includes('"text-delta"')) deltas += 1;
    });
    if (subscribe !== undefined) socket.send(subscribe);
  }
  // A subscription is not acknowledged if nothing runs; the server has processed it by then.
  if (subscribe !== undefined) await new Promise((resolve) => setTimeout(resolve, 1_000));
  process.on("message", ({ ask }) => {
    if (ask === "received") process.send({ deltas, messages });
  });
  return sockets;
}
