// Readers of streams, each with its own turn, in a process of their own.
import { request } from "node:http";
import { openReader } from "./websocket-reader.mjs";

const wanted = Buffer.from('"type":"text-delta"');

function countIn(bytes) {
  let count = 0;
  for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + wanted.length)) count += 1;
  return count;
}

/** Sends a message by the socket; resolves with the deltas of its turn. */
function bySocket(url, id) {
  return new Promise((resolve, reject) => {
    let deltas = 0;
    openReader(Number(new URL(url).port), (bytes, start, end) => {
      const frame = bytes.subarray(start, end);
      deltas += countIn(frame);
      if (frame.includes('"type":"turn-sealed"')) resolve(deltas);
    }).then(
      (socket) => socket.send({ type: "chat.send", conversationId: id, messageId: "m", message: "go" }),
      reject,
    );
  });
}

/** Posts a message as `useChat` does; resolves with the deltas of the answer. */
function byPost(url, id) {
  return new Promise((resolve, reject) => {
    const messages = [{ id: "m", role: "user", parts: [{ type: "text", text: "go" }] }];
    const body = JSON.stringify({ id, trigger: "submit-message", messages });
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(`${url}/api/chat`, { method: "POST", headers, agent: false }, (response) => {
      let deltas = 0;
      let rest = Buffer.alloc(0);
      response.on("data", (bytes) => {
        // A mark may lie across two pieces.
        const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
        const whole = all.lastIndexOf("\n\n");
        deltas += countIn(all.subarray(0, whole + 1));
        rest = all.subarray(whole + 1);
      });
      response.on("end", () => resolve(deltas));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const ways = { socket: bySocket, post: byPost };

/** Reads so many streams side by side when it is asked to, and says how many deltas came. */
export async function read({ url, way, streams }) {
  let round = 0;
  process.on("message", async ({ ask }) => {
    if (ask !== "read") return;
    round += 1;
    const ids = Array.from({ length: streams }, (_, index) => `r${round}-${index}`);
    const counts = await Promise.all(ids.map((id) => ways[way](url, id)));
    process.send({ deltas: counts.reduce((sum, count) => sum + count, 0) });
  });
  return streams;
}
