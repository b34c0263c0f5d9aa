// A conversation with a coding agent, the same at every call: questions, steps with tools, answers, in realistic sizes.
import { readdirSync, readFileSync } from "node:fs";

/**
 * Returns code, prose and logs from this folder: content that an agent reads and writes, and that compresses
 * like it.
 */
function readCorpus() {
  const root = new URL("./texts/tuning/", import.meta.url);
  const texts = ["code", "json", "markdown", "prose"].flatMap((kind) =>
    readdirSync(new URL(`${kind}/`, root))
      .sort()
      .map((name) => readFileSync(new URL(`${kind}/${name}`, root), "utf8")),
  );
  return texts.join("\n");
}

/** Creates a generator of numbers from 0 to 1, the same ones each time. */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * Returns the turns, each `{ user, steps, answer }`; a step is a thought, one or two calls and their results.
 * About 20 KB a turn: four steps, results of 1 to 8 KB.
 */
export function agentTurns(count) {
  const corpus = readCorpus();
  const random = createRandom(7);
  const between = (least, most) => Math.floor(least + random() * (most - least));
  // Cut at different places and marked, so that no two are equal.
  const cut = (length) => {
    const start = between(0, corpus.length - length);
    return `${corpus.slice(start, start + length)} ${between(0, 1e9).toString(36)}`;
  };
  let made = 0;
  const call = () => {
    made += 1;
    const edits = random() < 0.3;
    const args = edits
      ? { path: `src/part-${between(1, 400)}.ts`, oldText: cut(300), newText: cut(400) }
      : { path: `src/part-${between(1, 400)}.ts`, offset: between(0, 900), limit: 200 };
    return {
      toolCallId: `call_${String(made).padStart(24, "0")}`,
      name: edits ? "edit_file" : "read_file",
      arguments: args,
      argumentsText: JSON.stringify(args),
      resultText: edits ? cut(1_000) : cut(between(2_000, 8_000)),
    };
  };
  return Array.from({ length: count }, () => ({
    user: cut(between(80, 400)),
    steps: Array.from({ length: 4 }, () => ({
      thought: cut(between(60, 240)),
      calls: Array.from({ length: random() < 0.2 ? 2 : 1 }, call),
    })),
    answer: cut(between(600, 2_000)),
  }));
}

/** Returns the bytes of all messages, calls and results. */
export function contentBytes(turns) {
  let text = "";
  for (const { user, steps, answer } of turns) {
    text += user + answer;
    for (const { thought, calls } of steps) {
      text += thought;
      for (const { name, argumentsText, resultText } of calls) text += name + argumentsText + resultText;
    }
  }
  return Buffer.byteLength(text);
}
