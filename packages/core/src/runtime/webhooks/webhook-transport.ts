/** One attempt. */
export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** The most bytes of the answer that are read. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** What came of an attempt: an answer, or why there was none. */
export type WebhookAnswer =
  | {
      readonly status: number;
      /** The wait that the endpoint asks for. */
      readonly retryAfterMs?: number;
    }
  /** For people; names neither the address nor anything of the answer. */
  | { readonly error: string };

/**
 * The way to endpoints. It decides which addresses may be reached at all, follows no redirect, and never reads or waits
 * beyond the bounds of the attempt.
 */
export interface WebhookTransport {
  /** Makes one attempt. Never rejects. */
  post(post: WebhookPost): Promise<WebhookAnswer>;
  /** The wait behind an attempt that failed (1 for the first), or the one that the endpoint asks for within bounds. */
  delayMs(attempt: number, askedForMs?: number): number;
  /** Why an address is refused before anything is sent to it; undefined where it may be tried. */
  refusalOf(url: string): string | undefined;
}
