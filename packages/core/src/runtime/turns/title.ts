import type { TurnMetrics } from "@parley/wire";
import { type ConversationMessage, textOf } from "../../messages/message.js";
import { titleFrom, titleOf } from "../../messages/text/title.js";
import type { LogStore } from "../../ports/log-store.js";
import { collectAnswer } from "../../turn/answer/collect-answer.js";
import type { SealedTurn, Uses } from "../environment.js";
import type { ModelBinding } from "../models.js";

/** The parts of the environment that titles use. */
export type TitleUses = Uses<
  "clock" | "limits" | "models" | "notifyChanged" | "report" | "root" | "spending" | "titleModel"
>;

/** The `titleModel` that selects the model of the conversation's first turn. */
const conversationModel = "conversation";

const titleInstructions =
  "Name the conversation in at most six words, in its language. Answer with the name alone: no quotes, no full stop.";
const readCharacters = 2_000;

/** Messages that a title is made from. */
const readMessages = 20;

/** Turns that are checked for an earlier answer. A conversation with more of them keeps its title. */
const readTurns = 10;

/** Reasons of turns that leave something to name. A model that has just failed is not called for a title, too. */
const titledReasons: ReadonlySet<string> = new Set(["stop", "length", "tool-calls", "max-steps"]);

/** Names conversations after their first turn that was answered. */
export class Titles {
  readonly #env: TitleUses;
  readonly #ended = new AbortController();
  readonly #pending = new Set<Promise<void>>();

  constructor(env: TitleUses) {
    this.#env = env;
  }

  /** Asks the configured model for a title in the background, unless the conversation has a title of its own. */
  afterTurn(turn: SealedTurn): void {
    if (this.#env.titleModel === undefined || !titledReasons.has(turn.reason)) return;
    const { signal } = this.#ended;
    if (signal.aborted) return;
    const asked = titleConversation(this.#env, turn, signal)
      .catch((error: unknown) => {
        if (!signal.aborted) this.#env.report(error, "title", turn.conversationId);
      })
      .finally(() => this.#pending.delete(asked));
    this.#pending.add(asked);
  }

  /** Cancels the requests that are in flight. These conversations keep the title of their first message. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#pending);
  }
}

async function titleConversation(env: TitleUses, turn: SealedTurn, signal: AbortSignal): Promise<void> {
  const { conversationId } = turn;
  const store = env.root.forOwner(turn.owner);
  const messages = await store.listMessages(conversationId, { limit: readMessages, ascending: true });
  const derived = titleOf(messages);
  if (!(await isUnnamed(store, conversationId, derived))) return;
  if (turn.firstSeq !== 1 && !(await isFirstAnswered(store, turn))) return;
  const own = (await store.readTurn(conversationId, turn.turnId))?.turn.choices.model;
  const binding = env.models.resolve(env.titleModel === conversationModel ? own : env.titleModel);
  if (binding.writesTitles === false) return;
  const title = await askForTitle(env, binding, messages, { ...turn, signal });
  // It may have been renamed meanwhile.
  if (title === "" || !(await isUnnamed(store, conversationId, derived))) return;
  const { log } = await store.set(conversationId, { title });
  env.notifyChanged(turn.owner, [log]);
}

/**
 * Returns true if no earlier turn of a runtime was answered. Messages that an engine or an agent has written do not
 * count, because their turns have no figures.
 */
async function isFirstAnswered(store: LogStore, { conversationId, turnId }: SealedTurn): Promise<boolean> {
  const turns = await store.metrics(conversationId, { limit: readTurns });
  const isAnswered = ({ reason }: TurnMetrics) => reason !== undefined && titledReasons.has(reason);
  return turns.length < readTurns && turns.every((each) => each.turnId === turnId || !isAnswered(each));
}

/**
 * Returns true if the conversation needs a title (a temporary one is in no list) and still has the one derived from
 * its first message.
 */
async function isUnnamed(store: LogStore, id: string, derived: string): Promise<boolean> {
  const record = await store.get(id);
  return record !== null && record.temporary === undefined && record.title === derived;
}

async function askForTitle(
  env: TitleUses,
  binding: ModelBinding,
  messages: readonly ConversationMessage[],
  { owner, conversationId, signal }: SealedTurn & { readonly signal: AbortSignal },
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
      signal,
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
