// Readers of streams, each with its own turn, in a separate process.
import { request } from "node:http";
import { openReader } from "./websocket-reader.mjs";

/** The bytes that identify a delta, in each protocol. */
const marks = {
  socket: Buffer.from('"type":"text-delta"'),
  post: Buffer.from('"type":"text-delta"'),
  responses: Buffer.from('"type":"response.output_text.delta"'),
  completions: Buffer.from('"delta":{"content":" word"}'),
};

function countIn(bytes, wanted) {
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
      deltas += countIn(frame, marks.socket);
      if (frame.includes('"type":"turn-sealed"')) resolve(deltas);
    }).then(
      (socket) => socket.send({ type: "chat.send", conversationId: id, messageId: "m", message: "go" }),
      reject,
    );
  });
}

/** Posts a request; resolves with the deltas of the answer. */
function countAnswer(address, content, wanted) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(content);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(address, { method: "POST", headers, agent: false }, (response) => {
      let deltas = 0;
      let rest = Buffer.alloc(0);
      response.on("data", (bytes) => {
        // A mark may be split across two pieces.
        const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
        const whole = all.lastIndexOf("\n\n");
        deltas += countIn(all.subarray(0, whole + 1), wanted);
        rest = all.subarray(whole + 1);
      });
      response.on("end", () => resolve(deltas));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

/** Posts a message as `useChat` does. */
function byPost(url, id) {
  const messages = [{ id: "m", role: "user", parts: [{ type: "text", text: "go" }] }];
  return countAnswer(`${url}/api/chat`, { id, trigger: "submit-message", messages }, marks.post);
}

/** Creates a response as the OpenAI SDK does. */
function byResponses(url) {
  return countAnswer(`${url}/v1/responses`, { input: "go", stream: true }, marks.responses);
}

/** Creates a chat completion as the OpenAI SDK does. */
function byCompletions(url) {
  const messages = [{ role: "user", content: "go" }];
  return countAnswer(`${url}/v1/chat/completions`, { messages, stream: true }, marks.completions);
}

const ways = { socket: bySocket, post: byPost, responses: byResponses, completions: byCompletions };

/** Reads this many streams in parallel on request, and reports the number of deltas. */
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
