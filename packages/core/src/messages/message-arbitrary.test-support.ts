import type { JsonObject, ProviderMetadata } from "@parley/wire";
import fc from "fast-check";
import type { ConversationMessage, MessageRole } from "./message.js";
import { argumentsFromText, type MessageContentPart, resultFromText } from "./part.js";

/** Any string, also with lone surrogates, NUL and characters outside the basic plane. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", " ", "\u0000", "\ud800", "\udc00x", "a\u0000b", "🙂", "日本語"),
  },
);

/**
 * Texts that a parsed value would not preserve: spelling of numbers, order of keys, doubled keys, not JSON at all.
 */
export const awkwardJson: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '{"b":1,"a":2}',
    '{"a":1.0,"b":1e2,"c":-0,"d":1E+400}',
    '{"a":1,"a":2}',
    '{ "a" :\t[1, 2 ,3] }\n',
    '{"2":1,"1":2}',
    '{"big":12345678901234567890}',
    '{"u":"\\u00e9\\ud83d\\ude00é"}',
    '{"nul":"\\u0000","lone":"\\ud800"}',
    '{"__proto__":{"x":1}}',
    "",
    "   ",
    "null",
    "1.50",
    '"text"',
    "[1,2",
    '{"cut": "of',
  ),
  fc.json({ maxDepth: 2 }),
  anyText,
);

const unknownKey = fc.constantFrom("x-note", "vendorField", "__proto__", "zeta", "Ünknown");

/** A JSON value; no -0, which JSON itself does not keep. */
export const jsonValue: fc.Arbitrary<unknown> = fc
  .jsonValue({ maxDepth: 2 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** Fields that no form of a message knows. */
const unknownFields: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .uniqueArray(fc.tuple(unknownKey, jsonValue), { maxLength: 2, selector: ([key]) => key })
      .map(Object.fromEntries),
  },
);

const providerMetadata: fc.Arbitrary<ProviderMetadata> = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom("acme", "globex", "initech"),
      fc.uniqueArray(fc.tuple(fc.constantFrom("signature", "id", "b", "a"), jsonValue), {
        maxLength: 3,
        selector: ([key]) => key,
      }),
    ),
    { maxLength: 2, selector: ([provider]) => provider },
  )
  .map((entries) =>
    Object.fromEntries(
      entries.map(([provider, fields]) => [provider, Object.fromEntries(fields) as JsonObject]),
    ),
  );

function optional<T>(key: string, value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.option(value, { nil: undefined }).map((given) => (given === undefined ? {} : { [key]: given }));
}

/** Merges several objects. Not `Object.assign`, which would treat a field `__proto__` as the prototype. */
function joined(objects: readonly object[]): Record<string, unknown> {
  return Object.fromEntries(objects.flatMap((some) => Object.entries(some)));
}

function part(...fields: fc.Arbitrary<object>[]): fc.Arbitrary<MessageContentPart> {
  return fc
    .tuple(unknownFields, optional("providerMetadata", providerMetadata), ...fields)
    .map((given) => joined(given) as unknown as MessageContentPart);
}

const name = fc.constantFrom("search", "add", "run");
const stepId = optional("stepId", fc.constantFrom("t1:0", "t1:1"));

/** Few ids, so that they repeat: in one message, in later ones, on results without a call. */
const toolCallId = fc.constantFrom("call_0", "call_1", "call_2", "toolu_x");

const ownCall: fc.Arbitrary<MessageContentPart> = part(
  fc.record({ name, toolCallId }),
  stepId,
  awkwardJson.map((argumentsText) => ({
    type: "tool-call",
    arguments: argumentsFromText(argumentsText),
    argumentsText,
  })),
);

const ownResult: fc.Arbitrary<MessageContentPart> = part(
  fc.record({ name, toolCallId, isError: fc.boolean() }),
  stepId,
  optional("durationMs", fc.nat()),
  awkwardJson.map((resultText) => ({
    type: "tool-result",
    result: resultFromText(resultText),
    resultText,
  })),
);

const base64 = fc.base64String({ maxLength: 16 });

/** The data of an entry about input, as a turn writes it, with values of any kind. */
const inputEntry = fc
  .oneof(
    fc.record({
      type: fc.constant("input-request"),
      requestId: fc.constantFrom("t1.0.0", "t1.0.1"),
      kind: fc.constantFrom("approval", "question", "tool-output", "other"),
      toolCallId,
      toolName: name,
      argumentsHash: anyText,
      reason: anyText,
    }),
    fc.record({
      type: fc.constant("input-response"),
      requestId: fc.constantFrom("t1.0.0", "t1.0.1"),
      toolCallId,
      toolName: name,
      decision: fc.constantFrom("allow", "deny", "answer", "output"),
      argumentsText: awkwardJson,
      value: jsonValue,
      via: fc.constantFrom("http", "expiry", "stop"),
      note: anyText,
    }),
  )
  // As an ordinary object: a record of the generator has no prototype.
  .map((data) => ({ ...data }));

/** Hashes of the stored files that histories refer to. */
export const fileHashes = ["0".repeat(64), "9f".repeat(32)];

const ownOtherPart: fc.Arbitrary<MessageContentPart> = fc.oneof(
  part(fc.record({ type: fc.constant("text"), text: anyText })),
  part(fc.record({ type: fc.constant("reasoning"), text: anyText }), optional("durationMs", fc.nat())),
  part(fc.record({ type: fc.constant("metadata"), data: jsonValue })),
  part(fc.record({ type: fc.constant("metadata"), data: inputEntry })),
  part(
    fc.record({ type: fc.constant("file"), mediaType: fc.constantFrom("image/png", "text/plain") }),
    fc.oneof(
      fc.record({ data: base64 }),
      fc.record({ url: fc.webUrl() }),
      fc.record({ data: base64.filter((data) => data !== ""), url: fc.webUrl() }),
      fc.record({ hash: fc.constantFrom(...fileHashes), size: fc.nat() }),
    ),
    optional("filename", anyText),
  ),
  part(
    fc.constant({ type: "source" }),
    optional("id", anyText),
    optional("title", anyText),
    optional("url", fc.webUrl()),
  ),
  part(fc.record({ type: fc.constant("error"), message: anyText }), optional("code", anyText)),
);

/** Any part in Parley's own form. */
const ownPart: fc.Arbitrary<MessageContentPart> = fc.oneof(
  { weight: 2, arbitrary: ownOtherPart },
  { weight: 1, arbitrary: ownCall },
  { weight: 1, arbitrary: ownResult },
);

const metadata = fc
  .oneof(
    fc.constant({}),
    fc.constant({ origin: { provider: "acme", model: "m-1" } }),
    fc.record({ compaction: fc.record({ fromSeq: fc.nat(), toSeq: fc.nat() }) }),
    fc.record({ tags: fc.array(anyText, { maxLength: 2 }), z: jsonValue, a: jsonValue }),
  )
  .map((given) => structuredClone(given));

const createdAt = fc.date({ noInvalidDate: true });

function message(
  role: fc.Arbitrary<MessageRole>,
  parts: fc.Arbitrary<MessageContentPart[]>,
): fc.Arbitrary<ConversationMessage> {
  return fc
    .tuple(
      unknownFields,
      fc.record({
        id: fc.uuid(),
        conversationId: fc.constant("conversation-1"),
        role,
        createdAt,
        content: parts,
      }),
      optional("metadata", metadata),
      optional("providerMetadata", providerMetadata),
      optional("resourceId", fc.constant("owner-1")),
    )
    .map((given) => joined(given) as unknown as ConversationMessage);
}

const anyRole = fc.constantFrom<MessageRole>("system", "user", "assistant", "tool");

/** Any message in Parley's own form, with parts of any kind in any role. */
export const ownMessage: fc.Arbitrary<ConversationMessage> = message(
  anyRole,
  fc.array(ownPart, { minLength: 1, maxLength: 4 }),
);

/** Histories of every disorder: calls and results anywhere, doubled, missing, with ids used again. */
export const anyHistory: fc.Arbitrary<ConversationMessage[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: ownMessage },
    {
      weight: 3,
      arbitrary: message(
        fc.constant("assistant"),
        fc.array(fc.oneof(ownCall, ownCall, ownOtherPart), { minLength: 1, maxLength: 4 }),
      ),
    },
    {
      weight: 3,
      arbitrary: message(fc.constant("tool"), fc.array(ownResult, { minLength: 1, maxLength: 3 })),
    },
    {
      weight: 1,
      arbitrary: message(fc.constant("user"), fc.array(ownOtherPart, { minLength: 1, maxLength: 2 })),
    },
  ),
  { maxLength: 8 },
);

/** A step as a turn writes it: some text, calls, and then one tool message per call or one for all. */
const healthyStep: fc.Arbitrary<ConversationMessage[]> = fc
  .tuple(
    message(
      fc.constant("assistant"),
      fc.array(fc.oneof(ownCall, ownOtherPart), { minLength: 1, maxLength: 4 }),
    ),
    fc.array(message(fc.constant("tool"), fc.constant([])), { minLength: 4, maxLength: 4 }),
    fc.array(ownResult, { minLength: 4, maxLength: 4 }),
    fc.boolean(),
  )
  .map(([assistant, envelopes, results, together]) => {
    const answers = assistant.content
      .filter((given) => given.type === "tool-call")
      .map(
        (call, index) =>
          ({ ...results[index], name: call.name, toolCallId: call.toolCallId }) as MessageContentPart,
      );
    const [first] = envelopes;
    if (answers.length === 0 || first === undefined) return [assistant];
    if (together) return [assistant, { ...first, content: answers }];
    return [
      assistant,
      ...answers.map((answer, index) => ({ ...(envelopes[index] ?? first), content: [answer] })),
    ];
  });

/** Histories with exactly one result per call, each after its call; ids still repeat in later steps. */
export const healthyHistory: fc.Arbitrary<ConversationMessage[]> = fc
  .array(
    fc.oneof(
      healthyStep,
      message(fc.constantFrom("user", "system"), fc.array(ownOtherPart, { minLength: 1, maxLength: 2 })).map(
        (given) => [given],
      ),
    ),
    { maxLength: 5 },
  )
  .map((steps) => steps.flat());

/** Parts and messages of other writers, down to nonsense. */
export const foreignMessage: fc.Arbitrary<ConversationMessage> = fc
  .record(
    {
      id: fc.oneof(fc.uuid(), fc.nat(), fc.constant(undefined)),
      conversationId: fc.oneof(fc.constant("conversation-1"), fc.constant(null)),
      role: fc.oneof(anyRole, fc.constantFrom("developer", "function", "bot", 7)),
      createdAt: fc.oneof(
        createdAt,
        fc.constantFrom("2026-01-02T03:04:05Z", 1_700_000_000_000, "never", null),
      ),
      content: fc.oneof(
        anyText,
        fc.constant(undefined),
        fc.array(
          fc.oneof(
            ownPart,
            jsonValue,
            fc.record({
              type: fc.constantFrom("tool-call", "tool-result"),
              name,
              arguments: jsonValue,
              result: jsonValue,
            }),
            fc.record({
              type: fc.constant("tool-call"),
              name,
              arguments: jsonValue,
              argumentsText: awkwardJson,
            }),
            fc.record({
              type: fc.constantFrom("text", "file", "hologram", "error"),
              data: fc.oneof(jsonValue, fc.uint8Array({ maxLength: 4 })),
            }),
          ),
          { maxLength: 4 },
        ),
      ),
      metadata: fc.oneof(metadata, jsonValue),
      providerMetadata: fc.oneof(providerMetadata, fc.constant("none")),
      "x-foreign": jsonValue,
    },
    // The result is an ordinary object, which a strict comparison distinguishes from one without a prototype.
    { requiredKeys: [], noNullPrototype: true },
  )
  .map((given) => given as unknown as ConversationMessage);

/** Returns JSON text as a database returns it that keeps no order of keys. */
export function throughJsonb(text: string): string {
  return JSON.stringify(JSON.parse(text), (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value).sort(
      ([left], [right]) => left.length - right.length || (left < right ? -1 : 1),
    );
    return Object.fromEntries(entries);
  });
}
