import type { ErrorCode } from "@parley/core/errors";
import { omitUndefined } from "@parley/fold";
import type { ResolvedCredential } from "../config/config.js";

/** A model of a provider's list. */
export interface ListedModel {
  readonly name: string;
  /** The window in tokens, if the list has it. */
  readonly contextWindow?: number;
}

/** A provider's list of models, or why there is none. The problem is for people and holds no secret. */
export type RemoteModels =
  | { readonly models: readonly ListedModel[]; readonly ms: number }
  | { readonly problem: string; readonly code: ErrorCode; readonly status?: number };

/** A credential whose provider can be asked. */
export type RemoteCredential = Extract<ResolvedCredential, { kind: "openai" | "anthropic" | "compatible" }>;

/** The addresses of the providers that have one. */
export const usualUrl = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
} as const;

/** The longest lists of today, of servers with thousands of models, are below 2 MB. */
const longestListBytes = 8_000_000;

/**
 * Asks a provider which models it has: the cheapest call that needs the address and the key to be right, and no
 * tokens.
 */
export async function listRemoteModels(
  credential: RemoteCredential,
  options: { readonly timeoutMs?: number; readonly fetch?: typeof fetch } = {},
): Promise<RemoteModels> {
  const { timeoutMs = 3_000, fetch: ask = fetch } = options;
  const base = credential.baseUrl ?? (credential.kind === "compatible" ? "" : usualUrl[credential.kind]);
  const started = performance.now();
  try {
    const response = await ask(`${base.replace(/\/+$/, "")}/models`, {
      headers: headersFor(credential),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: "error",
    });
    if (!response.ok) {
      await response.body?.cancel();
      return { ...refusal(response.status), status: response.status };
    }
    const models = listedModels(await readList(response));
    const code = "provider_rejected";
    if (models === undefined)
      return { problem: `${host(base)} does not answer as an API of models does`, code };
    return { models, ms: Math.round(performance.now() - started) };
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") {
      return { problem: `${host(base)} did not answer within ${timeoutMs / 1_000} s`, code: "timeout" };
    }
    if (error instanceof SyntaxError) {
      return { problem: `${host(base)} did not answer with JSON`, code: "provider_rejected" };
    }
    return { problem: `${host(base)} cannot be reached${reason(error)}`, code: "network" };
  }
}

/** Reads a list whole, up to a bound; what is longer is no list of models. */
async function readList(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > longestListBytes) return undefined;
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
}

function headersFor(credential: RemoteCredential) {
  const { apiKey, headers } = credential;
  if (credential.kind !== "anthropic") {
    return { ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }), ...headers };
  }
  return {
    ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
    "anthropic-version": credential.version ?? "2023-06-01",
    ...headers,
  };
}

function refusal(status: number): { problem: string; code: ErrorCode } {
  if (status === 401) return { problem: "the key was refused (401)", code: "provider_auth" };
  if (status === 403) return { problem: "the key was refused (403)", code: "provider_rejected" };
  if (status === 404) {
    return { problem: "there is no list of models at this address (404)", code: "provider_rejected" };
  }
  if (status === 429) return { problem: "it answered 429", code: "rate_limited" };
  return {
    problem: `it answered ${status}`,
    code: status >= 500 ? "provider_overloaded" : "provider_rejected",
  };
}

function listedModels(body: unknown): ListedModel[] | undefined {
  const data = memberOf(body, "data");
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((entry: unknown) => {
    const name = memberOf(entry, "id");
    return typeof name === "string" ? [{ name, ...omitUndefined({ contextWindow: windowOf(entry) }) }] : [];
  });
}

/** The window where servers write it: OpenRouter, vLLM, Mistral, Groq, Anthropic, and llama.cpp inside of `meta`. */
function windowOf(entry: unknown): number | undefined {
  const named = [
    "context_length",
    "max_model_len",
    "max_context_length",
    "context_window",
    "max_input_tokens",
  ];
  const values = [...named.map((name) => memberOf(entry, name)), memberOf(memberOf(entry, "meta"), "n_ctx")];
  return values.find((value): value is number => Number.isSafeInteger(value) && Number(value) >= 1);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function host(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "the address";
}

/** The system's own code, such as ECONNREFUSED: `fetch` hides it one level down. */
function reason(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code: unknown = typeof cause === "object" && cause !== null ? Reflect.get(cause, "code") : undefined;
  return typeof code === "string" ? ` (${code})` : "";
}
