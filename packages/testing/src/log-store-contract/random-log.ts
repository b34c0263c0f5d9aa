import type { ConversationMessage } from "@parley/core/messages";
import { argumentsFromText, type MessageContentPart, resultFromText } from "@parley/core/messages";
import { message, providerCall, type Scenario, stepMetrics, uniqueId } from "./scenario.js";

/** Creates numbers that follow from a seed, so that a case that fails can be repeated. */
function createDice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    // Mulberry32: small, and good enough to choose with.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
}

const texts = [
  "",
  "a",
  "Zeile\r\nzwei",
  "\u0000",
  "\ud83d",
  "\ufeffmark",
  "日本語 🙂",
  '{"not": json',
  " \t ",
];
const jsons = ['{"b":1,"a":[1.0,1e2]}', "{}", "", "not json", '{"a":1,"a":2}', '"text"', "[1, 2 ]"];

/**
 * Writes a random conversation as turns make it: questions and answers of all kinds of parts, tools, steering, turns
 * that fail, messages outside turns, compactions by hand and within turns, some undone; perhaps all of it in a fork.
 */
export async function randomLog(s: Scenario, seed: number): Promise<string> {
  const dice = createDice(seed);
  let id = uniqueId();
  const rounds = 1 + dice(4);
  for (let round = 0; round < rounds; round++) {
    await randomTurn(s, id, dice);
    if (dice(4) === 0) await s.store.appendMessages([message(id, { content: randomParts(dice) })]);
    if (dice(3) === 0) await compactByHand(s, id, dice);
    if (dice(4) === 0) await s.store.undoCompaction(id).catch(() => {});
    if (dice(4) === 0) id = await forked(s, id);
  }
  return id;
}

async function randomTurn(s: Scenario, id: string, dice: (sides: number) => number): Promise<void> {
  const turn = await s.start(id, { message: message(id, { content: randomParts(dice) }) });
  const steps = [];
  const calls = [];
  for (let step = 0; step < dice(3); step++) {
    const stepId = `${turn.turnId}.${step}`;
    const toolCallId = dice(2) === 0 ? "call_0" : uniqueId();
    if (dice(3) === 0) await s.enqueue(id, { message: message(id, { content: randomParts(dice) }) });
    steps.push(stepMetrics(turn.turnId, step));
    calls.push(providerCall({ stepId, ...(dice(2) === 0 ? {} : { ttftMs: 1.25, genTotalMs: 3 }) }));
    const kept = { stepId, steps: [...steps], providerCalls: [...calls] };
    const argumentsText = jsons[dice(jsons.length)] ?? "";
    const call: MessageContentPart = {
      type: "tool-call",
      name: "tool",
      arguments: argumentsFromText(argumentsText),
      argumentsText,
      toolCallId,
      stepId,
    };
    const content = [...randomParts(dice), call];
    await s.commit(turn, [answer(id, content)], kept);
    await s.commit(turn, [result(id, toolCallId, stepId, dice)], { ...kept, promoteSteers: dice(2) === 0 });
    if (dice(3) === 0) await compactIn(s, turn, dice);
  }
  const failed = dice(4) === 0;
  const last = failed
    ? answer(id, [{ type: "error", message: "It failed", code: "network" }])
    : answer(id, randomParts(dice));
  await s.seal(turn, [last], {
    reason: failed ? "error" : "stop",
    metrics: { steps, ...(dice(2) === 0 ? {} : { contextSize: dice(5_000) }) },
    providerCalls: calls,
    next: { pauseQueue: true },
  });
  await s.store.queue(id, { op: "list" });
}

function answer(id: string, content: MessageContentPart[]): ConversationMessage {
  return {
    ...message(id, { role: "assistant", content }),
    metadata: { origin: { provider: "p", model: "m" } },
  };
}

function result(
  id: string,
  toolCallId: string,
  stepId: string,
  dice: (sides: number) => number,
): ConversationMessage {
  const resultText = jsons[dice(jsons.length)] ?? "";
  const part: MessageContentPart = {
    type: "tool-result",
    name: "tool",
    result: resultFromText(resultText),
    resultText,
    toolCallId,
    stepId,
    isError: dice(2) === 0,
    durationMs: dice(100) / 4,
  };
  return message(id, { role: "tool", content: [part] });
}

function randomParts(dice: (sides: number) => number): MessageContentPart[] {
  return Array.from({ length: 1 + dice(3) }, () => randomPart(dice));
}

function randomPart(dice: (sides: number) => number): MessageContentPart {
  const text = texts[dice(texts.length)] ?? "";
  const extras = dice(3) === 0 ? { providerMetadata: { acme: { signature: text, b: 1, a: [null] } } } : {};
  switch (dice(6)) {
    case 0:
      return { type: "reasoning", text, ...extras };
    case 1:
      return { type: "file", mediaType: "text/plain", data: "aGk=", filename: text, ...extras };
    case 2:
      return { type: "source", url: "https://example.com/", title: text, ...extras };
    case 3:
      return { type: "metadata", data: { text, list: [1.5, { b: 1, a: 2 }] }, ...extras };
    default:
      return { type: "text", text, ...extras };
  }
}

async function compactByHand(s: Scenario, id: string, dice: (sides: number) => number): Promise<void> {
  const lease = await s.store.lease({ conversationId: id, node: s.node, turnId: uniqueId() });
  await compactUnder(s, { conversationId: id, turnId: lease.turnId, fence: lease.fence }, dice, true);
}

async function compactIn(
  s: Scenario,
  turn: { conversationId: string; turnId: string; fence: number },
  dice: (sides: number) => number,
): Promise<void> {
  const { conversationId, turnId, fence } = turn;
  await compactUnder(s, { conversationId, turnId, fence }, dice, false);
}

async function compactUnder(
  s: Scenario,
  lease: { conversationId: string; turnId: string; fence: number },
  dice: (sides: number) => number,
  release: boolean,
): Promise<void> {
  const lastSeq = (await s.store.get(lease.conversationId))?.lastSeq ?? 1;
  const toSeq = 1 + dice(lastSeq);
  const covers = { fromSeq: 1 + dice(toSeq), toSeq };
  const summary = message(lease.conversationId, { role: "system", text: `Summary of ${toSeq}` });
  await s.store.compact({
    ...lease,
    summary: { ...summary, metadata: { compaction: covers } },
    covers,
    archiveId: uniqueId(),
    ...(release ? { release: s.next({ pauseQueue: true }) } : {}),
  });
}

async function forked(s: Scenario, id: string): Promise<string> {
  const record = await s.store.get(id);
  const newId = uniqueId();
  await s.store.fork({ conversationId: id, atSeq: record?.sealedSeq ?? 0, newId });
  return newId;
}
