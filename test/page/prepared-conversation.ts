import type { Chunk, ExportLine, Role, StepId } from "@parley/wire";

/** A message of a conversation that is put into the store as it is. */
export interface PreparedMessage {
  readonly role: Role;
  readonly chunks: readonly Chunk[];
}

/** One turn: the question and the answer. */
export type PreparedTurn = readonly PreparedMessage[];

export const asked = (text: string): PreparedMessage => ({ role: "user", chunks: [{ type: "text", text }] });
export const answered = (...chunks: readonly Chunk[]): PreparedMessage => ({ role: "assistant", chunks });
export const said = (text: string): PreparedMessage => answered({ type: "text", text });
export const returned = (...chunks: readonly Chunk[]): PreparedMessage => ({ role: "tool", chunks });

/** Returns the lines of an export of such a conversation. */
export function exportOf(
  conversation: { readonly id: string; readonly title: string; readonly endedAt?: number },
  turns: readonly PreparedTurn[],
): ExportLine[] {
  const { id, title, endedAt = Date.now() - 60_000 } = conversation;
  const startedAt = (turn: number) => endedAt - (turns.length - turn) * 1_000;
  const chunks: ExportLine[] = [];
  let seq = 0;
  turns.forEach((messages, turn) => {
    messages.forEach(({ role, chunks: parts }, place) => {
      parts.forEach((chunk, partIndex) => {
        seq += 1;
        chunks.push({
          type: "chunk",
          seq,
          role,
          chunk,
          messageId: `${id}-${turn}-${place}`,
          turnId: `${id}-turn-${turn}`,
          ...(role === "user" ? {} : { stepId: `${id}-turn-${turn}#0` as StepId }),
          createdAt: startedAt(turn) + place,
          partIndex,
          partCount: parts.length,
        });
      });
    });
  });
  const sealed = turns.map((_, turn): ExportLine => {
    const turnId = `${id}-turn-${turn}`;
    const usage = { inputTokens: 100 + turn, outputTokens: 20 };
    return {
      type: "turn",
      turnId,
      startedAt: startedAt(turn),
      sealedAt: startedAt(turn) + 500,
      metrics: { turnId, usage, durationMs: 500, steps: [], reason: "stop", model: "demo/demo" },
      providerCalls: [],
    };
  });
  return [
    {
      type: "conversation",
      format: "parley.conversation.1",
      conversation: { id, title, status: "idle", createdAt: startedAt(0), lastActivityAt: endedAt },
      lastSeq: seq,
    },
    ...chunks,
    ...sealed,
  ];
}
