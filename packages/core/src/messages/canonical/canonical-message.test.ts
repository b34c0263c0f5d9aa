import { describe, expect, it } from "vitest";
import type { MemoryStore, Thread } from "../../ports.js";
import { fromCanonical, toCanonical } from "./canonical-form.js";
import type { CanonicalMessage } from "./canonical-message.js";
import { toStoredForm, withToolValues } from "./tool-values.js";

/** The types of the base form, as a writer that knows nothing of Parley has them. */
interface BaseMessage {
  id: string;
  threadId: string;
  role: "system" | "user" | "assistant" | "tool";
  type: "text" | "tool" | "event";
  content: {
    format: 2;
    parts: BasePart[];
    content?: string;
    metadata?: Record<string, unknown>;
    providerMetadata?: Record<string, unknown>;
  };
  createdAt: Date;
  resourceId?: string;
}

type BasePart =
  | { type: "text"; text: string; providerMetadata?: Record<string, unknown> }
  | { type: "reasoning"; reasoning: string; details?: unknown; providerMetadata?: Record<string, unknown> }
  | {
      type: "tool-invocation";
      toolCallId: string;
      toolName: string;
      args?: unknown;
      result?: unknown;
      state: "call" | "result" | "partial-call";
      providerMetadata?: Record<string, unknown>;
    }
  | { type: "file"; data: string | Uint8Array; mimeType?: string }
  | { type: "source"; id?: string; title?: string; url?: string; providerMetadata?: Record<string, unknown> }
  | { type: "data"; data: unknown };

interface BaseStore {
  listMessages(args: { threadId: string; limit?: number; orderBy?: "asc" | "desc" }): Promise<BaseMessage[]>;
  saveMessages(args: { messages: BaseMessage[] }): Promise<void>;
  getThreadById(args: { threadId: string }): Promise<Thread | null>;
  saveThread(args: { thread: Thread }): Promise<void>;
}

const base: BaseMessage = {
  id: "m",
  threadId: "t",
  role: "assistant",
  type: "text",
  content: {
    format: 2,
    providerMetadata: { acme: "any" },
    parts: [
      { type: "text", text: "hi", providerMetadata: { acme: { id: 1 } } },
      {
        type: "tool-invocation",
        toolCallId: "c",
        toolName: "add",
        args: { a: 1 },
        result: 3,
        state: "result",
      },
    ],
  },
  createdAt: new Date(1),
};

describe("a message of the base form", () => {
  it("is one of Parley's, for the compiler too", () => {
    // These lines fail to compile if a value of the base form is not one of ours.
    const message: CanonicalMessage = base;
    const asStore: (store: BaseStore) => MemoryStore = (store) => store;
    expect(fromCanonical(message).map(({ role }) => role)).toEqual(["assistant", "tool"]);
    expect(asStore).toBeTypeOf("function");
  });
});

describe("tool parts", () => {
  const own = toCanonical({
    id: "m",
    conversationId: "t",
    role: "assistant",
    createdAt: new Date(1),
    content: [
      { type: "tool-call", name: "add", arguments: { a: 1 }, argumentsText: '{"a":1.0}', toolCallId: "c" },
      { type: "text", text: "hi" },
    ],
  });

  it("are handed out with their values, and kept without", () => {
    const handedOut = withToolValues(own);
    expect(handedOut.content.parts[0]).toMatchObject({ argsText: '{"a":1.0}', args: { a: 1 } });
    expect(toStoredForm(handedOut)).toEqual(own);
    expect(fromCanonical(handedOut)).toEqual(fromCanonical(own));
  });

  it("of other writers stay as they are, as does a message without any", () => {
    expect(withToolValues(base)).toBe(base);
    expect(toStoredForm(base)).toBe(base);
    const odd = { ...base, content: { format: 2 as const } } as unknown as CanonicalMessage;
    expect(toStoredForm(odd)).toBe(odd);
  });
});
