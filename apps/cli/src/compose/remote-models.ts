import type { ResolvedCredential } from "../config/config.js";

/** What a provider's list of models says, or why it says nothing. The problem is for people and holds no secret. */
export type RemoteModels =
  | { readonly models: readonly string[]; readonly ms: number }
  | { readonly problem: string; readonly status?: number };

const usualUrl = { openai: "https://api.openai.com/v1", anthropic: "https://api.anthropic.com/v1" } as const;

/** The longest lists of today, of servers with thousands of models, are below 2 MB. */
const longestListBytes = 8_000_000;

/**
 * Asks a provider which models it has: the cheapest call that needs the address and the key to be right, and no
 * tokens.
 */
export async function listRemoteModels(
  credential: Extract<ResolvedCredential, { kind: "openai" | "anthropic" | "compatible" }>,
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
      return { problem: refusal(response.status), status: response.status };
    }
    const names = modelNames(await readList(response));
    if (names === undefined) return { problem: `${host(base)} does not answer as an API of models does` };
    return { models: names, ms: Math.round(performance.now() - started) };
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") {
      return { problem: `${host(base)} did not answer within ${timeoutMs / 1_000} s` };
    }
    if (error instanceof SyntaxError) return { problem: `${host(base)} did not answer with JSON` };
    return { problem: `${host(base)} cannot be reached${reason(error)}` };
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

function headersFor(
  credential: Extract<ResolvedCredential, { kind: "openai" | "anthropic" | "compatible" }>,
) {
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

function refusal(status: number): string {
  if (status === 401 || status === 403) return `the key was refused (${status})`;
  if (status === 404) return "there is no list of models at this address (404)";
  return `it answered ${status}`;
}

function modelNames(body: unknown): string[] | undefined {
  const data: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "data") : undefined;
  if (!Array.isArray(data)) return undefined;
  return data.flatMap((entry: unknown) => {
    const id: unknown = typeof entry === "object" && entry !== null ? Reflect.get(entry, "id") : undefined;
    return typeof id === "string" ? [id] : [];
  });
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
