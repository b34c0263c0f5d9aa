import type { ConversationMessage, MessageContentPart } from "@parley/core/messages";
import type { ConversationTurn } from "@parley/core/ports";
import type { StepId } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import {
  batch,
  message,
  outcomeOf,
  providerCall,
  type Scenario,
  type TopicCase,
  uniqueId,
} from "../scenario.js";

/** Texts that stores, encoders and databases are known to change. */
const hostileTexts: Record<string, string> = {
  "NUL characters": "before\u0000after",
  "an escaped NUL": "before\\u0000after",
  "lone surrogates": "high \ud83d low \ude00 end",
  "control characters": "\u0001\u0007\u001b[0m\u007f\u0085\u2028\u2029",
  "a byte order mark and a non-character": "\ufeff text \uffff",
  "combining and composed forms": "e\u0301 \u00e9",
  "line ends of all kinds": "a\r\nb\rc\n\n",
  "white space around": "  \t text \n ",
  "quotes and escapes": `'"\\\`\${x} $1 %s :name ?`,
  "ten megabytes": "0123456789abcdef".repeat(655_360),
};

/** Values that JSON, or its readers, may change. Made when they are needed: some are large. */
const hostileValues: Record<string, () => unknown> = {
  "integers beyond the safe range": () => [2 ** 53, 2 ** 63, -(2 ** 64), 1e308, 5e-324, 0.1 + 0.2],
  "a bigint": () => 12_345_678_901_234_567_890n,
  "not a number": () => ({ value: Number.NaN }),
  infinity: () => [Number.POSITIVE_INFINITY],
  "a thousand levels": () => nested(1_000),
  "a hundred thousand levels": () => nested(100_000),
  "keys in their order": () => ({ b: 1, a: 2, "10": 3, "2": 4, "": 5 }),
  "keys that mean something elsewhere": () =>
    JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":null}'),
  "a key with a NUL": () => ({ "a\u0000b": 1 }),
  "a string with a lone surrogate": () => ({ text: "\udfff" }),
};

/** Values that JSON would change silently, or refuse. */
const notPlain: Record<string, () => unknown> = {
  "not a number": () => Number.NaN,
  infinity: () => Number.NEGATIVE_INFINITY,
  "a bigint": () => 10n,
  "a date": () => new Date(0),
  "a list with a hole": () => [1, undefined, 3],
};

function nested(depth: number): unknown {
  let value: unknown = "end";
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

/** Returns true for equal values, even if they are nested deeper than a recursion reaches. */
function sameValue(left: unknown, right: unknown): boolean {
  let a = left;
  let b = right;
  while (Array.isArray(a) && Array.isArray(b) && a.length === 1 && b.length === 1) {
    a = a[0];
    b = b[0];
  }
  try {
    checkEqual(a, b, "the values");
    return true;
  } catch {
    return false;
  }
}

/**
 * Checks that a value is stored as it was given, or refused with one of the two codes for that, and nothing in
 * between.
 */
async function faithful(
  what: string,
  write: Promise<unknown>,
  read: () => Promise<unknown>,
  given: unknown,
): Promise<void> {
  const outcome = await outcomeOf(write);
  if ("code" in outcome) {
    check(["too_large", "invalid_request"].includes(outcome.code), `${what}: refused with ${outcome.code}`);
    return;
  }
  check(sameValue(await read(), given), `${what}: what is read differs from what was written`);
}

async function answered(s: Scenario, parts: MessageContentPart[]): Promise<MessageContentPart[] | undefined> {
  const turn = await s.start();
  const id = turn.conversationId;
  await s.commit(turn, [message(id, { role: "assistant", content: parts })]);
  const { entries } = await s.store.readNewest({ conversationId: id, limit: 1 });
  return entries[0]?.message.content;
}

/** Cases of fidelity: what is written is what is read, with its bytes, numbers and times. */
export const fidelityCases: readonly TopicCase[] = [
  ...Object.entries(hostileTexts).map(
    ([what, text]): TopicCase => ({
      name: `text with ${what} is kept byte for byte, or refused`,
      async run(s) {
        const id = uniqueId();
        const sent = message(id, { text });
        const firstText = async () => {
          const [part] = (await s.log(id))[0]?.message.content ?? [];
          return part?.type === "text" ? part.text : undefined;
        };
        await faithful("a message", s.send(id, { message: sent }), firstText, text);
        const turn = await s.start();
        const waitingId = uniqueId();
        const waiting = message(turn.conversationId, { id: waitingId, text });
        const queued = async () => {
          const { entries } = await s.store.queue(turn.conversationId, { op: "list" });
          return entries.find((entry) => entry.id === waitingId)?.message.content;
        };
        const sending = s.send(turn.conversationId, { message: waiting });
        await faithful("a waiting message", sending, queued, waiting.content);
        const journal = async () =>
          (await s.store.readOpenTurn({ conversationId: turn.conversationId }))?.journal[0]?.data;
        const flushed = s.root.flushJournal([batch(turn, 0, text)]);
        await faithful("a journal batch", flushed, journal, text);
        const settings = { title: text, instructions: text, metadata: { text } };
        const made = uniqueId();
        const readSettings = async () => {
          const record = await s.store.get(made);
          return { title: record?.title, instructions: record?.instructions, metadata: record?.metadata };
        };
        await faithful("settings", s.store.create({ id: made, settings }), readSettings, settings);
      },
    }),
  ),
  ...Object.entries(hostileValues).map(
    ([what, make]): TopicCase => ({
      name: `data with ${what} is kept, or refused`,
      async run(s) {
        const data = make();
        const turn = await s.start();
        const id = turn.conversationId;
        const written = s.commit(turn, [
          message(id, { role: "assistant", content: [{ type: "metadata", data }] }),
        ]);
        const read = async () => {
          const { entries } = await s.store.readNewest({ conversationId: id, limit: 1 });
          const [part] = entries[0]?.message.content ?? [];
          return part?.type === "metadata" ? part.data : undefined;
        };
        await faithful("a part", written, read, data);
        const { conversation } = await s.store.create({ id: uniqueId(), settings: {} });
        const metadata = { data };
        const readMetadata = async () => (await s.store.get(conversation.id))?.metadata?.data;
        await faithful("settings", s.store.set(conversation.id, { metadata }), readMetadata, data);
        const { entries } = await s.commit(turn, [message(id, { role: "assistant", text: "Next" })]);
        const expected = (await s.store.get(id))?.lastSeq;
        checkEqual(entries[0]?.lastSeq, expected, "the next commit's seq");
      },
    }),
  ),
  {
    name: "the texts of calls and results are kept byte for byte, whatever JSON would make of them",
    async run(s) {
      const texts = [
        '{"b":1.0, "a":1e3,  "b":2}',
        '{"big":12345678901234567890,"small":1E-7,"é":"\\u00e9"}',
        "{ not json",
        "",
        "  [1, 2]\n",
      ];
      for (const text of texts) {
        const parts: MessageContentPart[] = [
          {
            type: "tool-call",
            name: "t",
            arguments: argumentsOf(text),
            argumentsText: text,
            toolCallId: "c",
          },
          { type: "tool-result", name: "t", result: resultOf(text), resultText: text, toolCallId: "c" },
        ];
        const [call, result] = (await answered(s, parts)) ?? [];
        checkEqual(call?.type === "tool-call" ? call.argumentsText : undefined, text, "the arguments");
        checkEqual(result?.type === "tool-result" ? result.resultText : undefined, text, "the result");
      }
    },
  },
  {
    name: "messages keep their metadata, and times to the millisecond",
    async run(s) {
      const id = uniqueId();
      const times = [0, -1, 1_700_000_000_001, 253_402_300_799_999];
      const sent = times.map(
        (time): ConversationMessage => ({
          ...message(id, { role: "assistant", createdAt: new Date(time) }),
          metadata: { origin: { provider: "p", model: "m" }, tags: ["a", null, { n: 1.5 }] },
          providerMetadata: { p: { id: "opaque", list: [1, 2] } },
        }),
      );
      const turn = await s.start(id);
      await s.commit(turn, sent);
      const read = (await s.log(id)).slice(1).map((entry) => entry.message);
      checkEqual(read, sent, "the messages");
      for (const each of read) check(each.createdAt instanceof Date, "the time is a Date");
      const { chunks } = await s.store.readChunks({ conversationId: id, sinceSeq: 1, open: true });
      checkEqual(
        chunks.map(({ createdAt }) => createdAt),
        times,
        "the times of the chunks",
      );
    },
  },
  {
    name: "a call's record is kept whole, its manifest and raw answer too",
    async run(s) {
      const call = providerCall({
        metadata: { provider: "p", model: "m", extensions: { trace: "t" } },
        usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, reasoningTokens: 3 },
        raw: { id: "r", output: [{ text: "x" }] },
        ttftMs: 0.25,
        genTotalMs: 1_234.5,
      });
      const turn = await s.start();
      await s.seal(turn, [], { providerCalls: [call] });
      const read = await s.store.readTurn(turn.conversationId, turn.turnId);
      checkEqual(read?.turn.providerCalls, [call], "the call");
      check(read?.turn.providerCalls[0]?.createdAt instanceof Date, "its time is a Date");
    },
  },
  ...Object.entries(notPlain).map(
    ([what, make]): TopicCase => ({
      name: `${what} is refused wherever it stands, and leaves nothing behind`,
      async run(s) {
        const turn = await s.start();
        const id = turn.conversationId;
        const bad = make();
        const figure = bad as number;
        const usage = { inputTokens: figure, outputTokens: 1 };
        const answer = (given: Partial<ConversationMessage> = {}): ConversationMessage[] => [
          { ...message(id, { role: "assistant", text: "Refused" }), ...given },
        ];
        const { conversation: idle } = await s.store.create({ id: uniqueId(), settings: {} });
        const append = (given: Partial<ConversationTurn>) =>
          s.store.appendTurn({
            id: uniqueId(),
            conversationId: idle.id,
            createdAt: new Date(0),
            userMessages: [],
            assistantMessages: [],
            providerCalls: [],
            ...given,
          });
        const steps = [{ stepId: `${turn.turnId}.0` as StepId, usage }];
        const writes: Record<string, () => Promise<unknown>> = {
          "a part": () => s.commit(turn, answer({ content: [{ type: "metadata", data: { bad } }] })),
          "a message's metadata": () => s.commit(turn, answer({ metadata: { list: [bad] } })),
          "a step's usage": () => s.commit(turn, answer(), { steps }),
          "the usage of a call": () => s.commit(turn, answer(), { providerCalls: [providerCall({ usage })] }),
          "a raw answer": () =>
            s.commit(turn, answer(), { providerCalls: [providerCall({ raw: { deep: [{ bad }] } })] }),
          "a turn's usage": () => s.seal(turn, answer(), { metrics: { usage } }),
          "a turn's steps": () => s.seal(turn, answer(), { metrics: { steps } }),
          "a call of a seal": () => s.seal(turn, answer(), { providerCalls: [providerCall({ raw: [bad] })] }),
          "a setting": () => s.store.set(id, { metadata: { bad } }),
          "a new conversation": () => s.store.create({ id: uniqueId(), settings: { metadata: { bad } } }),
          "an appended turn": () => append({ metadata: { bad } }),
          "a call of an appended turn": () => append({ providerCalls: [providerCall({ usage })] }),
          "a message that is sent": () =>
            s.send(uniqueId(), { message: message(id, { content: [{ type: "metadata", data: bad }] }) }),
        };
        for (const [where, write] of Object.entries(writes)) {
          const outcome = await outcomeOf(write());
          checkEqual(outcome, { code: "invalid_request" }, `${what} in ${where}`);
        }
        checkEqual(await s.texts(id), ["Hello"], "the log");
        checkEqual((await s.store.get(id))?.metadata, undefined, "the settings");
        await s.seal(turn, [message(id, { role: "assistant", text: "Taken" })]);
        checkEqual(await s.texts(id), ["Hello", "Taken"], "the log after a seal that is taken");
      },
    }),
  ),
  {
    name: "what goes in and what comes out are copies",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const answer = message(id, { role: "assistant", text: "Answer" });
      const { entries } = await s.commit(turn, [answer]);
      answer.content.length = 0;
      for (const entry of entries) entry.message.content.length = 0;
      const waiting = message(id, { text: "Waiting" });
      const outcome = await s.send(id, { message: waiting });
      waiting.content.length = 0;
      if (outcome.kind === "queued") outcome.queue.entries.length = 0;
      const record = await s.store.get(id);
      if (record !== null) record.queue.length = 0;
      checkEqual(await s.texts(id), ["Hello", "Answer"], "the log");
      const { entries: queue } = await s.store.queue(id, { op: "list" });
      checkEqual(queue[0]?.message.content, [{ type: "text", text: "Waiting" }], "the queue");
    },
  },
];

function argumentsOf(text: string): unknown {
  if (text.trim() === "") return {};
  return parsed(text);
}

function resultOf(text: string): unknown {
  return /^\s*[{[]/.test(text) ? parsed(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
