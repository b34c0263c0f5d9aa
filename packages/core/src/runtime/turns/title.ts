import { type ConversationMessage, textOf } from "../../messages/message.js";
import { titleFrom, titleOf } from "../../messages/text/title.js";
import type { LogStore } from "../../ports/log-store.js";
import { collectAnswer } from "../../turn/answer/collect-answer.js";
import type { SealedTurn, Uses } from "../environment.js";
import type { ModelBinding } from "../models.js";

/** The parts of the environment that titles use. */
export type TitleUses = Uses<
  "clock" | "limits" | "models" | "notifyChanged" | "root" | "spending" | "titleModel"
>;

/** The `titleModel` that stands for the model of the conversation's first turn. */
const conversationModel = "conversation";

const titleInstructions =
  "Name the conversation in at most six words, in its language. Answer with the name alone: no quotes, no full stop.";
const readCharacters = 2_000;

/** How many messages a title is made of. */
const readMessages = 20;

/**
 * After a conversation's first turn: asks the configured model for a title, unless someone has set one. A temporary
 * conversation is in no list, so no call is spent on it.
 */
export async function titleConversation(env: TitleUses, turn: SealedTurn): Promise<void> {
  if (env.titleModel === undefined) return;
  const { conversationId } = turn;
  const store = env.root.forOwner(turn.owner);
  const messages = await store.listMessages(conversationId, { limit: readMessages, ascending: true });
  const derived = titleOf(messages);
  if (!(await isUnnamed(store, conversationId, derived))) return;
  // An engine or an agent may have written before it. Their turns have no figures, so the first that has is a runtime's.
  if (turn.firstSeq !== 1 && (await store.metrics(conversationId, { limit: 2 })).length !== 1) return;
  const own = (await store.readTurn(conversationId, turn.turnId))?.turn.choices.model;
  const binding = env.models.resolve(env.titleModel === conversationModel ? own : env.titleModel);
  const title = await askForTitle(env, binding, messages, turn);
  // Someone may have named it meanwhile.
  if (title === "" || !(await isUnnamed(store, conversationId, derived))) return;
  const { log } = await store.set(conversationId, { title });
  env.notifyChanged(turn.owner, [log]);
}

/** Whether the conversation is to have a title, and still has the one that follows from its first message. */
async function isUnnamed(store: LogStore, id: string, derived: string): Promise<boolean> {
  const record = await store.get(id);
  return record !== null && record.temporary === undefined && record.title === derived;
}

async function askForTitle(
  env: TitleUses,
  binding: ModelBinding,
  messages: readonly ConversationMessage[],
  { owner, conversationId }: SealedTurn,
): Promise<string> {
  const transcript = messages
    .map((message) => `${message.role}: ${textOf(message)}`)
    .join("\n")
    .slice(0, readCharacters);
  const context = { owner, conversationId, model: binding.name, purpose: "title" } as const;
  const { message } = await collectAnswer(
    {
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
    },
    {
      modelName: binding.name,
      prices: binding.prices,
      onCall: (call) => env.spending.madeOutsideTurn(call, context),
    },
  );
  let title = "";
  for (const part of message.content) if (part.type === "text") title += (part as { text: string }).text;
  return titleFrom(title);
}
