import type { WebhookAnswer, WebhookPost, WebhookTransport } from "@parley/core/runtime";

/** A transport that keeps what it is given. */
export interface RecordingWebhooks {
  readonly transport: WebhookTransport;
  /** What was posted, in order, with its body as data. */
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

/** Creates a transport that sends nothing: it answers as it is told, 200 by default, and waits `delayMs` after a failure. */
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
