import type {
  AbstractChat,
  ChatInit,
  ChatState,
  ChatStatus,
  ChatTransport,
  UIMessage,
  UIMessageChunk,
} from "ai";

/** The exports of the SDK that a chat is made from, of any version. */
export interface ChatSdk {
  readonly AbstractChat: abstract new (
    init: ChatInit<UIMessage> & { state: ChatState<UIMessage> },
  ) => AbstractChat<UIMessage>;
  readonly DefaultChatTransport: new (options: object) => ChatTransport<UIMessage>;
  readonly lastAssistantMessageIsCompleteWithApprovalResponses: (options: {
    messages: UIMessage[];
  }) => boolean;
  readonly lastAssistantMessageIsCompleteWithToolCalls: (options: { messages: UIMessage[] }) => boolean;
}

/** The state of a page: a list of messages, copied on each change as React's does. */
class PageState implements ChatState<UIMessage> {
  status: ChatStatus = "ready";
  error: Error | undefined;
  messages: UIMessage[];
  onChange: () => void = () => {};

  constructor(messages: UIMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UIMessage) => {
    this.messages = [...this.messages, this.snapshot(message)];
    this.onChange();
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index: number, message: UIMessage) => {
    this.messages = this.messages.map((each, at) => (at === index ? this.snapshot(message) : each));
    this.onChange();
  };
  snapshot = <T>(value: T): T => structuredClone(value);
}

/** A page's chat: the SDK's own, without a framework around it. */
export type PageChat = AbstractChat<UIMessage> & { readonly page: PageState };

/** Creates a chat of the SDK, as a page holds one. */
export function createChat(
  sdk: ChatSdk,
  init: Omit<ChatInit<UIMessage>, "messages"> & { readonly messages?: UIMessage[] },
): PageChat {
  class Chat extends sdk.AbstractChat {
    readonly page: PageState;
    constructor() {
      const page = new PageState(init.messages ?? []);
      super({ ...init, state: page });
      this.page = page;
    }
  }
  return new Chat();
}

/** Returns the error that a browser throws when the network goes away, for a stream that a test cuts. */
function networkError(): TypeError {
  return new TypeError("network error");
}

/** Forwards a stream and breaks it off after a number of chunks. */
export function cutAfter(
  stream: ReadableStream<UIMessageChunk>,
  count: number,
  onBroken: () => void,
): ReadableStream<UIMessageChunk> {
  const reader = stream.getReader();
  let passed = 0;
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      if (passed === count) {
        await reader.cancel().catch(() => {});
        controller.error(networkError());
        onBroken();
        return;
      }
      const next = await reader.read();
      if (next.done) {
        controller.close();
        return;
      }
      passed += 1;
      controller.enqueue(next.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Returns a message as JSON has it, without what a stream of version 6 cannot carry: the decision on an approval. */
export function comparable(messages: readonly UIMessage[]): unknown[] {
  const plain = JSON.parse(JSON.stringify(messages)) as UIMessage[];
  return plain.map(({ parts, ...message }) => ({
    ...message,
    parts: parts.map((part) => {
      // Version 7 leaves the id of a reasoning part out.
      const { id, approval, ...rest } = part as Record<string, unknown> & { type: string };
      return {
        ...rest,
        ...(id === undefined || part.type === "reasoning" ? {} : { id }),
        ...(approval === undefined ? {} : { approval: { id: (approval as { id: string }).id } }),
      };
    }),
  }));
}

/** Returns the id of the last complete message of a page. */
export function lastWhole({ messages }: Pick<PageChat, "messages">): string {
  const isWhole = ({ role, metadata }: UIMessage) =>
    role === "user" || (metadata as { reason?: string } | undefined)?.reason !== undefined;
  return messages.findLast(isWhole)?.id ?? "";
}
