import type { ParleyClient } from "@parley/client";
import type { ReasoningEffort } from "@parley/wire";
import type { Io } from "./io.js";

/** A turn that an effort was chosen for. */
export interface EffortChoice {
  readonly effort: ReasoningEffort;
  /** The model of the turn. Absent: that of the conversation, else the default. */
  readonly model?: string | undefined;
  /** The conversation, where it exists. */
  readonly conversationId?: string | undefined;
}

/** Returns a note if an effort has no effect on the model of a turn; undefined if it has one, or if that is unknown. */
export async function effortNote(client: ParleyClient, choice: EffortChoice): Promise<string | undefined> {
  const { defaultModel, modelInfo } = await client.request("GET /models");
  const model = choice.model ?? (await modelOf(client, choice.conversationId)) ?? defaultModel;
  const efforts = model === undefined ? undefined : modelInfo[model]?.efforts;
  if (efforts === undefined || efforts.includes(choice.effort)) return undefined;
  return efforts.length === 0
    ? `${model} takes no effort: "${choice.effort}" has no effect.`
    : `${model} does not know the effort "${choice.effort}": it takes ${efforts.join(", ")}.`;
}

/** Notes an effort that has no effect. The turn is started nevertheless: a script may name one effort for all models. */
export async function noteEffort(
  io: Pick<Io, "note">,
  client: ParleyClient,
  { effort, ...choice }: Omit<EffortChoice, "effort"> & { readonly effort?: ReasoningEffort | undefined },
): Promise<void> {
  const note = effort === undefined ? undefined : await effortNote(client, { effort, ...choice });
  if (note !== undefined) io.note(note);
}

async function modelOf(client: ParleyClient, id: string | undefined): Promise<string | undefined> {
  if (id === undefined) return undefined;
  const { effective } = await client.request("GET /conversations/:id/meta", { params: { id } });
  return effective?.model;
}
