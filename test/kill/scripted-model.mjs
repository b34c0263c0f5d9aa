import { setTimeout as sleep } from "node:timers/promises";
import { createScriptedProvider, delay, reasoning, text, toolCall, usage } from "@parley/testing";

/**
 * Plans of turns, by the word behind "do" in the message that opens it: for each step the tools that it calls, side by
 * side. The last step calls none.
 */
const plans = {
  talk: [[]],
  retry: [["quick", "slow"], []],
  fail: [["quick", "once"], []],
  long: [["slow", "quick", "slow"], ["quick", "once"], []],
  pay: [["pay", "quick", "pay", "pay"], ["refund", "slow"], []],
  ask: [["ask_user", "inquire"], []],
};

/** Arguments of a call, if they are more than its own name. */
const special = {
  ask_user: (marker) => ({ question: `Which colour for ${marker}?` }),
};

/**
 * Creates a model that follows the plan of the message it answers, so that any node continues where another one was
 * cut off. Every answer names the node and the call that made it: two generations of one step never have the same
 * text.
 */
export function createScriptedModel({ node, pieceMs, pieces = 24, points }) {
  const pace = { pieces, pieceMs };
  return createScriptedProvider((params, call) => {
    if (textOf(params.messages.at(-1)).endsWith("Write the whole memory now.")) {
      return summary(`${node}#${call}`, pace, points);
    }
    const { marker, step, tools } = whereTo(params.messages);
    return [
      reasoning(`Thinking about ${marker}, step ${step}.`, { size: 16 }),
      ...said(`${marker}.${step} by ${node}#${call}:`, pace),
      ...tools.map((name, index) =>
        toolCall(name, special[name]?.(marker) ?? { of: marker, index }, {
          id: `${marker}.${step}.${index}`,
        }),
      ),
      usage(100 + step, 20 + tools.length),
    ];
  });
}

/**
 * Creates tools that report their start, and take a while: some may run again after a crash, some must not. Of those
 * that ask, two need an approval, and one asks a question while it runs.
 */
export function createTools({ report, points, slowMs }) {
  const make = (name, recovery, ms, more = {}) => ({
    name,
    recovery,
    ...more,
    async execute(input, { conversationId, toolCallId, output, ask }) {
      report({
        type: "tool",
        phase: "start",
        name,
        conversationId,
        toolCallId,
        input: JSON.stringify(input),
      });
      output(`${name} works`);
      if (name === "inquire") await ask({ message: `Which size for ${toolCallId}?` });
      await sleep(ms / 2);
      points.pass("tool", { name });
      await sleep(ms / 2);
      report({ type: "tool", phase: "end", name, conversationId, toolCallId });
      return `${name} answers ${toolCallId}`;
    },
  });
  const approval = "always";
  return [
    make("quick", "retry", 2),
    make("slow", "retry", slowMs),
    make("once", "fail", slowMs),
    make("pay", "fail", slowMs / 2, { approval }),
    make("refund", "retry", 2, { approval }),
    make("inquire", "retry", 2),
  ];
}

function said(opening, { pieces, pieceMs }) {
  const entries = [text(opening)];
  for (let index = 0; index < pieces; index += 1) entries.push(delay(pieceMs), text(` w${index} ü€`));
  return entries;
}

function summary(by, { pieces, pieceMs }, points) {
  const entries = [text(`Memory by ${by}.`)];
  for (let index = 0; index < pieces; index += 1) {
    entries.push(delay(pieceMs), text(` s${index}`), () => points.pass("summary"));
  }
  return entries;
}

/** Returns the next step: the plan of the last message with one, and the number of its steps that were taken. */
function whereTo(messages) {
  const opening = messages.findLastIndex(
    (message) => message.role === "user" && /^do /.test(textOf(message)),
  );
  const [, kind, marker] = textOf(messages[opening]).split(" ");
  const answers = messages.slice(opening + 1).filter(({ role }) => role === "assistant");
  const last = textOf(messages.findLast(({ role }) => role === "user"))
    .split(" ")
    .at(-1);
  const isOver = answers.some(({ content }) => !content.some(({ type }) => type === "tool-call"));
  const tools = isOver ? undefined : plans[kind]?.[answers.length];
  // A message that is too late for the running turn opens a turn of its own.
  if (tools === undefined) return { marker: last, step: answers.length, tools: [] };
  return { marker, step: answers.length, tools };
}

function textOf(message) {
  return (message?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
}
