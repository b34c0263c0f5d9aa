import type { ConversationMessage } from "@parley/core/messages";
import type {
  AdmitInput,
  CommitInput,
  JournalBatch,
  LogStore,
  OpenedTurn,
  SealInput,
} from "@parley/core/ports";

/** Inputs that tests of this folder send, with defaults for what is left out. */

export const node = "node-1";

export function message(
  conversationId: string,
  text: string,
  role: ConversationMessage["role"] = "user",
  id: string = crypto.randomUUID(),
): ConversationMessage {
  return { id, conversationId, role, createdAt: new Date(), content: [{ type: "text", text }] };
}

export function admission(conversationId: string, text: string, given: Partial<AdmitInput> = {}): AdmitInput {
  return {
    node,
    conversationId,
    message: message(conversationId, text),
    bodyHash: text,
    ifBusy: "queue",
    mode: "steer",
    choices: {},
    turnId: crypto.randomUUID(),
    queueLength: 100,
    title: text,
    ...given,
  };
}

export interface HeldTurn {
  readonly conversationId: string;
  readonly turnId: string;
  readonly fence: number;
}

export async function start(
  store: LogStore,
  conversationId: string = crypto.randomUUID(),
  text = "Hello",
): Promise<OpenedTurn & HeldTurn> {
  const outcome = await store.admit(admission(conversationId, text));
  if (outcome.kind !== "started") throw new Error(`the message was ${outcome.kind}`);
  return { ...outcome.turn, conversationId };
}

export function held({ conversationId, turnId, fence }: HeldTurn): HeldTurn {
  return { conversationId, turnId, fence };
}

export function commit(turn: HeldTurn, messages: ConversationMessage[], promoteSteers = false): CommitInput {
  return {
    ...held(turn),
    stepId: `${turn.turnId}.0`,
    messages,
    promoteSteers,
    steps: [],
    providerCalls: [],
  };
}

export function sealing(turn: HeldTurn, messages: ConversationMessage[] = []): SealInput {
  return {
    ...held(turn),
    messages,
    stepId: `${turn.turnId}.0`,
    reason: "stop",
    metrics: { turnId: turn.turnId, usage: { inputTokens: 1, outputTokens: 1 }, steps: [] },
    providerCalls: [],
    next: { node, turnId: crypto.randomUUID(), pauseQueue: false, openNext: true },
  };
}

export function batch(
  { log, turnId, fence }: Pick<OpenedTurn, "log" | "turnId" | "fence">,
  firstN: number,
  owner: string,
): JournalBatch {
  return { log, owner, turnId, fence, firstN, count: 2, data: `events from ${firstN}` };
}

export function textsOf(entries: readonly { readonly message: ConversationMessage }[]): string[] {
  return entries.map(({ message: { content } }) =>
    content.map((part) => (part.type === "text" ? part.text : part.type)).join(" "),
  );
}
