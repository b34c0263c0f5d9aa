// Many sockets that follow one conversation, in a process of their own: counts what reaches them.
import { openReader } from "./websocket-reader.mjs";

/** Opens the sockets, lets each follow, and tells what they have had in all when it is asked. */
export async function follow({ url, sockets, subscribe }) {
  let deltas = 0;
  let messages = 0;
  const port = Number(new URL(url).port);
  for (let index = 0; index < sockets; index += 1) {
    // A delta's frame is told by the beginning of its text, without parsing it.
    const socket = await openReader(port, (bytes, start, end) => {
      messages += 1;
      if (bytes.latin1Slice(start, Math.min(end, start + 60)).includes('"text-delta"')) deltas += 1;
    });
    if (subscribe !== undefined) socket.send(subscribe);
  }
  // A subscription is not acknowledged where nothing runs; the server has taken it in by then.
  if (subscribe !== undefined) await new Promise((resolve) => setTimeout(resolve, 1_000));
  process.on("message", ({ ask }) => {
    if (ask === "heard") process.send({ deltas, messages });
  });
  return sockets;
}
