import { textOf } from "../../messages/message.js";
import { collectAnswer } from "../../turn/read-answer.js";
import { titleFrom } from "../admission/inbox.js";
import { notifyChanged } from "../delivery/notify-changed.js";
import type { Environment, SealedTurn } from "../environment.js";

/** The `titleModel` that stands for the model of the conversation's first turn. */
const conversationModel = "conversation";

const titleInstructions =
  "Name the conversation in at most six words, in its language. Answer with the name alone: no quotes, no full stop.";
const readCharacters = 2_000;

/** After a conversation's first turn: asks the configured model for a title, unless someone has set one. */
export async function titleConversation(env: Environment, turn: SealedTurn): Promise<void> {
  if (env.titleModel === undefined || turn.firstSeq !== 1) return;
  const store = env.root.forOwner(turn.owner);
  const found = await store.readTurn(turn.conversationId, turn.turnId);
  const first = found?.entries[0]?.message;
  if (first === undefined) return;
  const isUnnamed = async () => (await store.get(turn.conversationId))?.title === titleFrom(textOf(first));
  if (!(await isUnnamed())) return;
  const own = found?.turn.choices.model;
  const binding = env.models.resolve(env.titleModel === conversationModel ? own : env.titleModel);
  const transcript = (found?.entries ?? [])
    .map(({ message }) => `${message.role}: ${textOf(message)}`)
    .join("\n")
    .slice(0, readCharacters);
  const { message } = await collectAnswer({
    provider: binding.provider,
    params: {
      messages: [
        { role: "system", content: [{ type: "text", text: titleInstructions }] },
        { role: "user", content: [{ type: "text", text: transcript }] },
      ],
      metadata: {
        provider: binding.providerName,
        model: binding.model,
        extensions: { "parley.purpose": "title" },
      },
      reasoningEffort: "low",
    },
    limits: env.limits,
    clock: env.clock,
    signal: undefined,
  });
  let title = "";
  for (const part of message.content) if (part.type === "text") title += (part as { text: string }).text;
  title = titleFrom(title);
  // Someone may have named it meanwhile.
  if (title === "" || !(await isUnnamed())) return;
  await store.set(turn.conversationId, { title });
  notifyChanged(env, turn.owner, [turn.conversationId]);
}
