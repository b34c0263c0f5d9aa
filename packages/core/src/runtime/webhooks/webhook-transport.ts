/** One attempt. */
export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  /** Maximum number of bytes of the answer that are read. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** Result of an attempt: an answer, or the reason that there was none. */
export type WebhookAnswer =
  | {
      readonly status: number;
      /** The wait that the endpoint requests. */
      readonly retryAfterMs?: number;
    }
  /** For people; contains neither the address nor anything of the answer. */
  | { readonly error: string };

/**
 * Transport to endpoints. It decides which addresses may be reached at all, follows no redirect, and never reads or
 * waits beyond the limits of the attempt.
 */
export interface WebhookTransport {
  /** Makes one attempt. Never rejects. */
  post(post: WebhookPost): Promise<WebhookAnswer>;
  /**
   * Returns the wait after an attempt that failed (1 for the first), or the one that the endpoint requests, within
   * limits.
   */
  delayMs(attempt: number, askedForMs?: number): number;
  /** Returns the reason that an address is refused before anything is sent to it; undefined if it may be tried. */
  refusalOf(url: string): string | undefined;
}
