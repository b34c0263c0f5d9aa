import { omitUndefined } from "@parley/core/messages";
import type { CallerTool, QueueEntry, QueueState, TurnChoices } from "@parley/core/ports";
import type { QueueMode, ReasoningEffort } from "@parley/wire";
import type { Connection } from "../../database.js";
import { messagesOf } from "../../message-row.js";
import { originalJson, storedJson, storedText } from "../../stored-text.js";

/** Selects the waiting entries of a log, in order, as JSON; null if there are none. */
export function queueJson(log: string): string {
  return `(
SELECT json_agg(json_build_object('id', q.id, 'mode', q.mode, 'model', q.model, 'effort', q.effort,
  'instructions', q.instructions, 'tools', q.tools, 'other_choices', q.other_choices, 'role', q.role, 'type', q.type,
  'content', q.content,
  'created_ms', date_part('epoch', q.created_at) * 1000, 'resource_id', q.resource_id,
  'queued_ms', date_part('epoch', q.queued_at) * 1000) ORDER BY q.rank)::text
FROM parley.queued_message q WHERE q.log = ${log})`;
}

interface QueuedJson extends ChoiceColumns {
  readonly id: string;
  readonly mode: QueueMode;
  readonly role: string;
  readonly type: string;
  readonly content: unknown;
  readonly created_ms: number;
  readonly resource_id: string | null;
  readonly queued_ms: number;
}

/** Reads the entries of `queueJson`. */
export function queueEntries(json: unknown, conversationId: string): QueueEntry[] {
  if (typeof json !== "string") return [];
  return (originalJson(json) as QueuedJson[]).map((queued) => {
    const [message] = messagesOf(
      {
        ...queued,
        first_seq: 0,
        part_count: 0,
        turn_id: null,
        step: null,
        covers_from: null,
        covers_to: null,
        tokens: null,
        token_rule: null,
      },
      conversationId,
    );
    if (message === undefined) throw new TypeError("a stored message is at least one message");
    return {
      id: queued.id,
      message,
      mode: queued.mode,
      queuedAt: Math.round(queued.queued_ms),
      choices: choicesOf(queued),
    };
  });
}

/** Reads the waiting entries. The caller holds the lock. */
export async function readQueue(
  connection: Connection,
  head: { readonly log: number; readonly conversationId: string },
): Promise<QueueEntry[]> {
  const [row] = await connection.query({
    name: "read_queue",
    text: `SELECT ${queueJson("$1::int8")} AS queue`,
    values: [head.log],
  });
  return queueEntries(row?.queue, head.conversationId);
}

export function queueState(entries: QueueEntry[], paused: boolean): QueueState {
  return { entries, paused };
}

export interface ChoiceColumns {
  readonly model: string | null;
  readonly effort: string | null;
  readonly instructions: string | null;
  readonly tools: CallerTool[] | null;
  readonly other_choices: OtherChoices | null;
}

/** The choices that are stored as one value. */
type OtherChoices = Pick<TurnChoices, "output" | "toolNames" | "maxOutputTokens" | "metadata">;

/** Reads choices from columns whose texts are original. */
export function choicesOf(columns: ChoiceColumns): TurnChoices {
  return {
    ...(columns.model === null ? {} : { model: columns.model }),
    ...(columns.effort === null ? {} : { reasoningEffort: columns.effort as ReasoningEffort }),
    ...(columns.instructions === null ? {} : { instructions: columns.instructions }),
    ...(columns.tools === null ? {} : { tools: columns.tools }),
    ...columns.other_choices,
  };
}

/** Converts choices to the values of the columns tools and other_choices. */
export function rareChoiceValues(choices: TurnChoices): [string | null, string | null] {
  const { tools, output, toolNames, maxOutputTokens, metadata } = choices;
  const others = omitUndefined({ output, toolNames, maxOutputTokens, metadata });
  return [
    tools === undefined ? null : storedJson(tools),
    Object.keys(others).length === 0 ? null : storedJson(others),
  ];
}

/** Returns true if a turn has choices that few turns have, and that admission in one statement does not write. */
export function hasRareChoices(choices: TurnChoices): boolean {
  return rareChoiceValues(choices).some((value) => value !== null);
}

/** Converts choices to the values of the columns model, effort and instructions. */
export function choiceValues(choices: TurnChoices): [string | null, string | null, string | null] {
  const { model, reasoningEffort, instructions } = choices;
  return [
    model === undefined ? null : storedText(model),
    reasoningEffort === undefined ? null : storedText(reasoningEffort),
    instructions === undefined ? null : storedText(instructions),
  ];
}
