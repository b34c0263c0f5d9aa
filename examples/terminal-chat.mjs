// Parley's runtime in a terminal, with the demo model and the embedded store: kill it, start it again,
// continue.
//
// Type while it answers: a line steers the running turn, a line that starts with + waits for the next one,
// and Ctrl-C stops the turn (twice exits). Without a terminal, the lines of standard input are sent one by
// one.
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { styleText } from "node:util";
import { createModelCatalog, createRuntime } from "@parley/core/runtime";
import { DemoProviderAdapter, demoContextWindow, slowTask } from "@parley/providers/demo";
import { openEmbedded } from "@parley/store/embedded";
import { calculatorTool } from "@parley/tools/calculator";
import { timeTool } from "@parley/tools/time";

const interactive = process.stdin.isTTY === true;
const colours = process.stdout.isTTY === true && !process.env.NO_COLOR;
const dim = (text) => (colours ? styleText("dim", text) : text);
const strong = (text) => (colours ? styleText("bold", text) : text);

const folder = process.env.PARLEY_FOLDER ?? ".parley";
if (!existsSync(folder)) console.log(`Creating the store in ${folder}, once; this takes a few seconds.`);
const { store, wake } = await openEmbedded({ folder }).catch((error) => {
  console.error(error.message);
  process.exit(1);
});

const runtime = await createRuntime({
  store,
  wake,
  models: createModelCatalog([
    {
      name: "demo/demo",
      provider: new DemoProviderAdapter({ pace: interactive ? "human" : "instant" }),
      providerName: "demo",
      model: "demo",
      contextWindow: demoContextWindow,
    },
  ]),
  tools: [timeTool(), calculatorTool(), slowTask({ stepMs: interactive ? 1_000 : 0 })],
  lease: { pollMs: 0 },
});
const me = runtime.forOwner("you");
const conversationId = "terminal";
await me.create({ id: conversationId });
const { chunks, latestSeq } = await me.history({ conversationId, limit: 6 });

let running = false;
let atLineStart = true;
/** The part of the answer that is being written: another one starts on a new line. */
let part = "";
const write = (text) => {
  if (text === "") return;
  process.stdout.write(text);
  atLineStart = text.endsWith("\n");
};
const line = (text) => write(`${atLineStart ? "" : "\n"}${text}\n`);
let onIdle = () => {};

if (latestSeq > 0) {
  line(dim(`Going on where you were (${latestSeq} entries in the log):`));
  for (const { role, chunk } of chunks) {
    if ("text" in chunk) line(dim(`  ${role}: ${chunk.text.replace(/\s+/g, " ").slice(0, 90)}`));
  }
  line("");
}

me.attach(conversationId, undefined, {
  onFrame(frame) {
    if (frame.type === "chat.delta") show(frame.event);
  },
  onEnd: () => {},
});

function show(event) {
  switch (event.type) {
    case "turn-start":
      running = true;
      break;
    case "reasoning-delta":
    case "text-delta": {
      const id = `${event.messageId} ${event.partIndex}`;
      if (part !== id && !atLineStart) write("\n");
      part = id;
      write(event.type === "text-delta" ? event.delta : dim(event.delta));
      break;
    }
    case "tool-call":
      line(dim(`  > ${event.toolName} ${event.argumentsText ?? ""}`));
      break;
    case "tool-output":
      line(dim(`    ${event.data.trimEnd()}`));
      break;
    case "tool-result":
      line(dim(`  < ${event.toolName}: ${event.content.replace(/\s+/g, " ").slice(0, 100)}`));
      break;
    case "steering":
      line(dim(`  (steered: ${event.text})`));
      break;
    case "error":
      line(`${event.code}: ${event.message}`);
      break;
    case "done":
      line(
        dim(
          `  [${event.reason}, ${Math.round(event.durationMs ?? 0)} ms, ${event.contextSize ?? "?"} tokens in context]`,
        ),
      );
      break;
    case "status":
      if (event.status === "active") break;
      running = false;
      onIdle();
      break;
    default:
  }
}

async function ask(text) {
  if (running) {
    const later = text.startsWith("+");
    await me.queue.add({
      conversationId,
      message: later ? text.slice(1).trim() : text,
      mode: later ? "queue" : "steer",
    });
    line(
      dim(
        later
          ? "  (queued for the next turn)"
          : "  (steers the turn when its tool is done, else opens the next)",
      ),
    );
    return;
  }
  running = true;
  await me.send({ conversationId, message: text });
}

let leaving = false;
async function leave() {
  if (leaving) return;
  leaving = true;
  await runtime.close();
  await store.close();
  process.exit(0);
}

const input = createInterface({ input: process.stdin, output: interactive ? process.stdout : undefined });
if (interactive) {
  line(
    `${strong("Parley")}, in this terminal, with the demo model. Say hello, or "help". Ctrl-C stops a turn, twice leaves.\n`,
  );
  input.setPrompt("you: ");
  onIdle = () => {
    write("\n");
    input.prompt();
  };
  let last = 0;
  input.on("SIGINT", async () => {
    if (!running || Date.now() - last < 1_500) return leave();
    last = Date.now();
    await me.stop(conversationId);
  });
  input.on("close", leave);
  input.on("line", async (text) => {
    if (text.trim() === "") return running ? undefined : input.prompt();
    if (text.trim() === "/quit") return leave();
    await ask(text.trim()).catch((error) => line(`${error.code ?? "error"}: ${error.message}`));
  });
  input.prompt();
} else {
  const asked = [];
  for await (const text of input) if (text.trim() !== "") asked.push(text.trim());
  if (asked.length === 0) asked.push("hello", "What is (3 + 4) * 12?", "use many tools");
  for (const text of asked) {
    line(`\nyou: ${text}`);
    const idle = new Promise((resolve) => {
      onIdle = resolve;
    });
    await ask(text);
    await idle;
  }
  await leave();
}
