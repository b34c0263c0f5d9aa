// Many idle sockets, in a separate process.
import { readFileSync } from "node:fs";
import { openReader } from "./websocket-reader.mjs";

/** Opens the sockets, each with its key if a file lists keys, and counts the messages that reach them. */
export async function stay({ url, sockets, secrets: file }) {
  const secrets = file === undefined ? [] : JSON.parse(readFileSync(file, "utf8"));
  const port = Number(new URL(url).port);
  let messages = 0;
  const onFrame = () => {
    messages += 1;
  };
  const atOnce = 50;
  for (let start = 0; start < sockets; start += atOnce) {
    const count = Math.min(atOnce, sockets - start);
    await Promise.all(
      Array.from({ length: count }, (_, index) => openReader(port, onFrame, secrets[start + index])),
    );
  }
  process.on("message", ({ ask }) => {
    if (ask === "received") process.send({ messages });
  });
  return sockets;
}
