import type { MessageContentPart, MessageOrigin } from "@parley/core/messages";
import { omitUndefined } from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";
import fc from "fast-check";

/** Origins of messages: the reader of most tests, another model, another provider, or unknown. */
export const ownOrigin: MessageOrigin = { provider: "anthropic", model: "claude-opus-5" };
const origin: fc.Arbitrary<MessageOrigin | undefined> = fc.constantFrom(
  ownOrigin,
  ownOrigin,
  { provider: "anthropic", model: "claude-sonnet-4-5" },
  { provider: "openai", model: "gpt-5" },
  undefined,
);

/** Any string, including blank ones, lone surrogates and control characters. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 10 }),
  fc.constantFrom("", " ", "\n\t", "\u001c", "\u0085", "\ud800", "x\udc00", "🙂", "text"),
);

const argumentsText = fc.oneof(
  fc.constantFrom(
    "",
    "  ",
    "{}",
    "null",
    "[1]",
    '"a"',
    "{",
    '{"a":1.0}',
    '{"lone":"\\ud800"}',
    '{"__proto__":1}',
  ),
  fc.json({ maxDepth: 2 }),
  anyText,
);

// Few ids, some of which the API refuses, so that they repeat: in one message, in later ones, on stray
// results.
const toolCallId = fc.constantFrom(
  "call_0",
  "call_1",
  "toolu_x",
  "functions.read:0",
  "",
  "x".repeat(80),
  "ü",
);
const name = fc.constantFrom("search", "files.read", "a b", "", "n".repeat(90), "add");

const call: fc.Arbitrary<MessageContentPart> = fc
  .record({ name, toolCallId, argumentsText })
  .map((fields) => ({ type: "tool-call", arguments: {}, ...fields }));

const result: fc.Arbitrary<MessageContentPart> = fc
  .record({ name, toolCallId, resultText: anyText, isError: fc.boolean() })
  .map((fields) => ({ type: "tool-result", result: fields.resultText, ...fields }));

const reasoning: fc.Arbitrary<MessageContentPart> = fc
  .tuple(
    anyText,
    fc.constantFrom<Record<string, Record<string, string>> | undefined>(
      { anthropic: { signature: "sig" } },
      { anthropic: { signature: "" } },
      { anthropic: { redactedData: "data" } },
      { openai: { id: "rs_1", encryptedContent: "enc" } },
      undefined,
    ),
  )
  .map(([text, providerMetadata]) => ({
    type: "reasoning",
    text,
    ...omitUndefined({ providerMetadata }),
  }));

const opaqueTexts = [
  '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}',
  '{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}',
  '{"type":"mcp_tool_use","id":"mcptoolu_1","name":"x","server_name":"s","input":{}}',
  '{"type":"container_upload","file_id":"file_1"}',
  '{"type":"tool_use","id":"smuggled","name":"x","input":{}}',
  '{"type":"thinking"}',
  '{"type":"x","lone":"\\ud800"}',
  "{}",
  "not json",
];

const metadata: fc.Arbitrary<MessageContentPart> = fc
  .constantFrom(...opaqueTexts)
  .map((block) => ({ type: "metadata", data: {}, providerMetadata: { anthropic: { block } } }));

const file: fc.Arbitrary<MessageContentPart> = fc
  .record(
    {
      mediaType: fc.constantFrom(
        "image/png",
        "image/jpg",
        "IMAGE/WEBP",
        "image/bmp",
        "application/pdf",
        "text/plain",
        "audio/wav",
        "",
      ),
      data: fc.oneof(fc.base64String({ maxLength: 12 }), fc.constant("a:b"), fc.constant("?")),
      url: fc.constantFrom(
        "https://example.com/a.png",
        "data:image/png;base64,AAAA",
        "file:///etc/passwd",
        "https://x y",
      ),
      filename: anyText,
    },
    { requiredKeys: ["mediaType"] },
  )
  .map((fields) => ({ type: "file", ...fields }) as MessageContentPart);

const other: fc.Arbitrary<MessageContentPart> = fc.oneof(
  anyText.map((text): MessageContentPart => ({ type: "text", text })),
  reasoning,
  metadata,
  file,
  fc.constant<MessageContentPart>({ type: "source", url: "https://example.com" }),
  fc.constant<MessageContentPart>({ type: "error", message: "failed" }),
);

function message(
  role: ProviderMessage["role"],
  parts: fc.Arbitrary<MessageContentPart>,
): fc.Arbitrary<ProviderMessage> {
  return fc.tuple(fc.array(parts, { maxLength: 4 }), origin).map(([content, by]) => ({
    role,
    content,
    ...(role === "assistant" && by !== undefined ? { origin: by } : {}),
  }));
}

/** Histories in any disorder, by any provider: calls and results anywhere, doubled, missing, ids reused. */
export const anyHistory: fc.Arbitrary<ProviderMessage[]> = fc.array(
  fc.oneof(
    message("system", other),
    message("user", fc.oneof(other, other, result, call)),
    message("assistant", fc.oneof(other, call, call, result)),
    message("assistant", fc.oneof(reasoning, metadata, call)),
    message("tool", fc.oneof(result, result, result, other)),
  ),
  { maxLength: 9 },
);
