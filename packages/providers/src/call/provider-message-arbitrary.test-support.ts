import type { MessageContentPart, MessageOrigin, MessageRole } from "@parley/core/messages";
import { omitUndefined } from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";
import fc from "fast-check";

/** Texts of every kind that a history may contain, including invalid Unicode. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom("", " ", "\u0000", "\ud800", "\udc00x", "🙂", "日本語", "\n\n") },
);

const argumentText = fc.oneof(
  fc.constantFrom("", "  ", "{}", '{"a":1}', '{"cut": "of', "null", "[1]", '"text"', '{"lone":"\\ud800"}'),
  fc.json({ maxDepth: 1 }),
  anyText,
);

// Few ids, so that they repeat: in one message, in later ones, on results without a call.
const callId = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("call_0", "call_1", "toolu_x") },
  { weight: 1, arbitrary: fc.constantFrom("a".repeat(80), "with space|and.dots", "\ud800") },
  { weight: 1, arbitrary: fc.constant(undefined) },
);
const toolName = fc.constantFrom("search", "files.read", "", "x".repeat(90), "größe", "add");

const itemText = fc.oneof(
  fc
    .record({
      type: fc.constantFrom(
        "web_search_call",
        "mcp_call",
        "custom_tool_call",
        "function_call",
        "message",
        "hologram",
      ),
      id: fc.constantFrom("ws_1", "ws_2", "msg_1"),
      call_id: fc.constantFrom("call_0", "call_9"),
    })
    .map((item) => JSON.stringify(item)),
  fc.constantFrom("not json", "[]", "null", '{"type":"web_search_call","note":"\\ud800"}'),
);

/** Metadata that adapters keep on parts, valid and invalid. */
const kept = fc.record(
  {
    id: fc.constantFrom("rs_1", "rs_2", "msg_1", "msg_2", ""),
    encryptedContent: fc.constantFrom("ENC", "", "ENC2"),
    summaryLengths: fc.constantFrom([1, 2], [0], [], "three"),
    phase: fc.constantFrom("commentary", "final_answer", "other"),
    refusal: fc.boolean(),
    namespace: fc.constantFrom("ns", ""),
    item: itemText,
    content: fc.constantFrom(
      '{"type":"input_image","image_url":"https://x.test/a.png","detail":"auto"}',
      '{"type":"input_image"}',
      '{"type":"input_text","text":""}',
    ),
    responseId: fc.constant("resp_1"),
    signature: fc.constant("sig"),
  },
  { requiredKeys: [] },
);
const providerMetadata = fc
  .dictionary(fc.constantFrom("openai", "anthropic", "acme"), kept, { maxKeys: 2 })
  .map((given) => ({ ...given }));

function part(fields: fc.Arbitrary<object>): fc.Arbitrary<MessageContentPart> {
  return fc.tuple(fields, fc.option(providerMetadata, { nil: undefined })).map(
    ([given, metadata]) =>
      ({
        ...given,
        ...omitUndefined({ providerMetadata: metadata }),
      }) as MessageContentPart,
  );
}

const callPart = part(
  fc.record({
    type: fc.constant("tool-call"),
    name: toolName,
    toolCallId: callId,
    argumentsText: argumentText,
  }),
);
const resultPart = part(
  fc.record({
    type: fc.constant("tool-result"),
    name: toolName,
    toolCallId: callId,
    resultText: fc.oneof(anyText, argumentText),
    isError: fc.boolean(),
  }),
);
const otherPart = fc.oneof(
  { weight: 4, arbitrary: part(fc.record({ type: fc.constant("text"), text: anyText })) },
  { weight: 3, arbitrary: part(fc.record({ type: fc.constant("reasoning"), text: anyText })) },
  {
    weight: 1,
    arbitrary: part(fc.record({ type: fc.constant("metadata"), data: fc.jsonValue({ maxDepth: 1 }) })),
  },
  {
    weight: 1,
    arbitrary: part(
      fc.record(
        {
          type: fc.constant("file"),
          mediaType: fc.constantFrom(
            "image/png",
            "image/tiff",
            "application/pdf",
            "text/plain",
            "audio/wav",
            "",
          ),
          data: fc.oneof(fc.base64String({ maxLength: 16 }), fc.constantFrom("", "%%%", "YQ")),
          url: fc.oneof(
            fc.webUrl(),
            fc.constantFrom("file:///etc/passwd", "https://a b/c.png", "data:image/png;base64,YQ=="),
          ),
          filename: anyText,
        },
        { requiredKeys: ["type", "mediaType"] },
      ),
    ),
  },
  { weight: 1, arbitrary: part(fc.record({ type: fc.constant("source"), url: fc.webUrl() })) },
  { weight: 1, arbitrary: part(fc.record({ type: fc.constant("error"), message: anyText })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { type: "hologram" },
      { type: "text" },
      { type: "tool-call", name: "x" },
    ) as fc.Arbitrary<MessageContentPart>,
  },
);
const anyPart = fc.oneof(
  { weight: 3, arbitrary: otherPart },
  { weight: 2, arbitrary: callPart },
  { weight: 2, arbitrary: resultPart },
);

/** The provider and model of most messages in the histories. */
export const reader: MessageOrigin = { provider: "openai", model: "gpt-test" };

const origin = fc.oneof(
  { weight: 4, arbitrary: fc.constant<MessageOrigin | undefined>(reader) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<MessageOrigin>(
      { provider: "openai", model: "gpt-other" },
      { provider: "anthropic", model: "claude" },
    ),
  },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

const message = fc
  .record({
    role: fc.constantFrom<MessageRole>("system", "user", "assistant", "assistant", "tool"),
    content: fc.array(anyPart, { maxLength: 5 }),
    origin,
    metadata: fc.constantFrom(undefined, { role: "developer" }, { role: 7 }),
  })
  .map(
    ({ role, content, origin: from, metadata }) =>
      ({
        role,
        content,
        ...omitUndefined({ origin: from, metadata }),
      }) as ProviderMessage,
  );

/** Histories in any disorder. */
export const anyMessages: fc.Arbitrary<ProviderMessage[]> = fc.array(message, { maxLength: 8 });
