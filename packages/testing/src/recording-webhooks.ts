import type { WebhookAnswer, WebhookPost, WebhookTransport } from "@parley/core/runtime";

/** A transport that keeps its posts. */
export interface RecordingWebhooks {
  readonly transport: WebhookTransport;
  /** The posts, in order, with their bodies as data. */
  readonly posts: readonly RecordedPost[];
}

/** A post, and its body as data. */
export interface RecordedPost extends Omit<WebhookPost, "body"> {
  /** As it was sent. */
  readonly text: string;
  readonly body: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Record<string, unknown>;
  };
}

/**
 * Creates a transport that sends nothing: it returns the given answers, 200 by default, and waits `delayMs` after a
 * failure.
 */
export function createRecordingWebhooks(
  options: {
    readonly answer?: (post: RecordedPost, signal: AbortSignal) => WebhookAnswer | Promise<WebhookAnswer>;
    readonly delayMs?: number;
  } = {},
): RecordingWebhooks {
  const posts: RecordedPost[] = [];
  return {
    posts,
    transport: {
      async post({ body: text, ...post }) {
        const recorded = { ...post, text, body: JSON.parse(text) as RecordedPost["body"] };
        posts.push(recorded);
        return (await options.answer?.(recorded, post.signal)) ?? { status: 200 };
      },
      delayMs: (_attempt, askedForMs = 0) => Math.max(options.delayMs ?? 10, askedForMs),
      refusalOf: (url) => (URL.canParse(url) ? undefined : "This is not a URL"),
    },
  };
}
