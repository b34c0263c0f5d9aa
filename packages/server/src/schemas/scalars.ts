import { z } from "@hono/zod-openapi";
import type {
  Cursor,
  ErrorCode,
  JsonObject,
  JsonValue,
  KeyScope,
  OpenUnion,
  ProviderMetadata,
  QueueMode,
  ReasoningEffort,
  Role,
  StepId,
  TurnReason,
} from "@parley/wire";
import { agree } from "./agree.js";

const idPattern = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/;

/** An id that a client may choose. */
export const id = z
  .string()
  .regex(idPattern, "1 to 128 of the characters A-Z a-z 0-9 . _ : -, and not . or .. alone")
  .openapi("Id", {
    description:
      "Chosen by the client or made by the server (a UUID, in places with a prefix such as `key_`)",
    example: "0192f0c1-7c3a-7d52-9e5b-1f2a3b4c5d6e",
  });

/** Epoch milliseconds. */
export const instant = z.number();

/** A whole number of at least 0. */
export const count = z.int().min(0);

/** Returns the schema of a whole number in a query string, with a minimum. */
function wholeInQuery(minimum: number) {
  const expected = `expected a whole number of at least ${minimum}`;
  return z
    .preprocess(
      (text) => (typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : text),
      z.int(expected).min(minimum, expected),
    )
    .openapi({ type: "integer", minimum });
}

/** A seq in a query string. */
export const seqInQuery = wholeInQuery(0);

/** Requested number of entries, in a query string. */
export const limitInQuery = wholeInQuery(1);

const booleans: Readonly<Record<string, boolean>> = { true: true, false: false, "": true };

/** A boolean in a query string; the bare name counts as true. */
export const flagInQuery = z
  .preprocess(
    (text) => (typeof text === "string" && Object.hasOwn(booleans, text) ? booleans[text] : text),
    z.boolean('expected "true" or "false"'),
  )
  .openapi({ type: "boolean" });

/** Returns the schema of an open set of words: the known ones are documented, but any is accepted. */
export function openWords<Known extends string>(words: readonly Known[]): z.ZodType<OpenUnion<Known>> {
  return z.string().openapi({ description: `${words.join(", ")}; more may come` }) as z.ZodType<
    OpenUnion<Known>
  >;
}

export const role = agree<Role>()(z.enum(["system", "user", "assistant", "tool"]));
export const stepId = z.string() as unknown as z.ZodType<StepId>;
export const cursor = z.string().openapi({ description: "Opaque" }) as unknown as z.ZodType<Cursor>;
export const reasoningEffort = agree<ReasoningEffort>()(z.enum(["low", "medium", "high", "xhigh", "max"]));
export const queueMode = agree<QueueMode>()(z.enum(["steer", "queue"]));
export const keyScope = agree<KeyScope>()(z.enum(["read", "write", "approve", "admin"]));
export const turnReason = openWords<TurnReason>([
  "stop",
  "tool-calls",
  "length",
  "content-filter",
  "max-steps",
  "aborted",
  "error",
  "interrupted",
]);

export const errorCode = agree<ErrorCode>()(
  z
    .enum([
      "invalid_request",
      "unauthorized",
      "forbidden",
      "conversation_not_found",
      "message_conflict",
      "turn_active",
      "conversation_closed",
      "queue_full",
      "too_large",
      "limit_exceeded",
      "draining",
      "store_unavailable",
      "stale_fence",
      "schema_newer",
      "nothing_to_compact",
      "model_unavailable",
      "context_overflow",
      "rate_limited",
      "quota_exceeded",
      "provider_auth",
      "provider_rejected",
      "provider_overloaded",
      "content_filtered",
      "timeout",
      "network",
      "canceled",
      "tool_failed",
      "already_decided",
      "answer_too_large",
      "output_invalid",
      "internal",
    ])
    .openapi("ErrorCode"),
);
export const openErrorCode = z.string() as unknown as z.ZodType<OpenUnion<ErrorCode>>;

/** Any JSON object. Its depth is limited when bodies are read. */
export const jsonObject = z
  .record(z.string(), z.unknown())
  .openapi({ type: "object", additionalProperties: true }) as unknown as z.ZodType<JsonObject>;
/** Any JSON value. */
export const jsonValue = z.unknown().openapi({}) as unknown as z.ZodType<JsonValue>;
export const providerMetadata = z
  .record(z.string(), z.record(z.string(), z.unknown()))
  .openapi({ type: "object", additionalProperties: true }) as unknown as z.ZodType<ProviderMetadata>;
