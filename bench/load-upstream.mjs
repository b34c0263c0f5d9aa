// An upstream that speaks the Responses API: every answer is paced, and every delta says when it was sent.
import { createServer } from "node:http";
import { answerQuestions, cpuSince } from "./load-child.mjs";
import { deltaText, encodeStream } from "./responses-stream.mjs";

const [deltasText, perSecondText] = process.argv.slice(2);
const deltas = Number(deltasText);
const everyMs = 1_000 / Number(perSecondText);

/** The events around the deltas, and one delta to write the time into. */
const template = encodeStream(1).map(String);
const deltaAt = template.findIndex((event) => event.startsWith("event: response.output_text.delta"));
const head = template.slice(0, deltaAt).join("");
const tail = template.slice(deltaAt + 1).join("");
const [beforeNumber, afterNumber] = cutAround(template[deltaAt], '"sequence_number":', ",");
const [beforeText, afterText] = cutAround(afterNumber, '"delta":"', '"');

const streams = new Set();
let last = 0;

const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "x-request-id": "req_bench",
  });
  response.write(head);
  // Spread over the interval, as answers of many callers are.
  last = (last + everyMs * 0.618) % everyMs;
  const stream = { response, sent: 0, text: "", dueAt: performance.now() + everyMs + last };
  streams.add(stream);
  response.on("close", () => streams.delete(stream));
});
server.keepAliveTimeout = 600_000;
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
setInterval(tick, 1);

let before = process.cpuUsage();
answerQuestions(
  {
    cpu() {
      const cpuUs = cpuSince(before);
      before = process.cpuUsage();
      return { cpuUs };
    },
  },
  { url: `http://127.0.0.1:${server.address().port}/v1` },
);

function tick() {
  const now = performance.now();
  for (const stream of streams) {
    // What a late tick missed is made up for, one delta per tick.
    if (stream.dueAt > now) continue;
    stream.dueAt += everyMs;
    // The monotonic clock is one for all processes of the machine.
    const delta = ` ${(process.hrtime.bigint() / 1_000n).toString(36)}`;
    stream.text += delta;
    stream.sent += 1;
    stream.response.write(beforeNumber + (deltaAt + stream.sent) + beforeText + delta + afterText);
    if (stream.sent < deltas) continue;
    streams.delete(stream);
    stream.response.end(tailOf(stream.text));
  }
}

/** The events after the last delta, with the whole text in them. */
function tailOf(text) {
  const field = (value) => `"text":${JSON.stringify(value)}`;
  return tail
    .replaceAll(field(deltaText(0)), field(text))
    .replace(/"sequence_number":(\d+)/g, (_, number) => `"sequence_number":${Number(number) + deltas}`);
}

/** What stands before a value and from its end on. */
function cutAround(event, mark, end) {
  const start = event.indexOf(mark) + mark.length;
  return [event.slice(0, start), event.slice(event.indexOf(end, start))];
}
