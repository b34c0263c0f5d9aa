// A client is disconnected in the middle of an answer and returns with its cursor: nothing is missing,
// nothing is repeated.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { DemoProviderAdapter, demoContextWindow } from "@parley/providers/demo";
import { openEmbedded } from "@parley/store/embedded";

// A separate store in a new folder, removed when the example ends.
const folder = mkdtempSync(join(tmpdir(), "parley-example-"));
const { store, wake } = await openEmbedded({ folder });

const runtime = await createRuntime({
  store,
  wake,
  models: createModelCatalog([
    {
      name: "demo/demo",
      provider: new DemoProviderAdapter({ pace: "instant" }),
      providerName: "demo",
      model: "demo",
      contextWindow: demoContextWindow,
    },
  ]),
});
const me = runtime.forOwner("me");

const { conversationId, turnId } = await me.send({ message: "A long answer, please", messageId: "m1" });

// The first client disconnects after twenty frames. It keeps only the cursor of the last one.
let first = "";
let cursor = "";
let seen = 0;
for await (const frame of me.subscribe(conversationId, "0")) {
  if (frame.type === "chat.delta") {
    if (frame.event.type === "text-delta") first += frame.event.delta;
  }
  cursor = frame.cursor ?? cursor;
  seen += 1;
  if (seen === 20) break;
}
console.log(`cut off after ${seen} frames, at cursor ${cursor.replace(turnId, "<turn>")}`);

// Sending the same message again starts nothing: it is the same turn.
const again = await me.send({ message: "A long answer, please", messageId: "m1" });
console.log(`sent again: ${again.repeated ? "the same turn" : "a second turn"}`);

// The second client requests everything after the cursor.
let second = "";
for await (const frame of me.subscribe(conversationId, cursor)) {
  if (frame.type === "chat.chunks") {
    // Content committed meanwhile replaces provisional content, so the first part is sent again as a whole.
    for (const { role, chunk } of frame.chunks)
      if (role === "assistant" && chunk.type === "text") first = chunk.text;
    second = "";
  }
  if (frame.type !== "chat.delta") continue;
  if (frame.event.type === "text-delta") second += frame.event.delta;
  if (frame.event.type === "turn-sealed") break;
}
const { text } = await me.last(conversationId);
console.log(first + second === text ? "the two parts are the whole answer" : "SOMETHING IS MISSING");
await runtime.close();
await store.close();
rmSync(folder, { recursive: true });
