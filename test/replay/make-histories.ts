import type { ConversationMessage } from "@parley/core/messages";
import type { ProviderMessage } from "@parley/core/ports";
import { ConversationLog, reordered, shown, shownLines } from "./conversation-log.js";
import { converse } from "./converse.js";
import type { ProviderEndpoint, Scripted } from "./provider-endpoint.js";
import {
  cutScenarios,
  demoCutScenarios,
  demoScenarios,
  type Scenario,
  type ScenarioTurn,
  scenarios,
  tools,
} from "./scenarios.js";

/** A conversation as one provider left it in the log. */
export interface History {
  readonly name: string;
  readonly kind: "whole" | "cut" | "stopped";
  /** The stored messages. */
  readonly lines: readonly string[];
  /** Messages that a provider is shown of it before it was stored. */
  readonly live: readonly ProviderMessage[];
  /** Messages that a provider is shown of it after it was stored and read back with its keys in another order. */
  readonly stored: readonly ProviderMessage[];
  /** `live` as text. Histories with the same are the same to every provider. */
  readonly key: string;
  /** The same conversation one turn earlier. */
  readonly before?: History;
  /**
   * Number of times that the model reasoned, if it gets all of that back: it is complete, and something followed it.
   */
  readonly thoughts?: number;
  /** Failure while it was made: the provider refused its own conversation. */
  readonly refused?: string;
}

/**
 * Makes all conversations of one provider: each scenario after each of its turns, and the richest of them with its
 * answers cut off after every event, and stopped at every event of the turn.
 */
export async function makeHistories(endpoint: ProviderEndpoint): Promise<History[]> {
  const isDemo = endpoint.eventsIn({ pieces: [] }) === 0;
  const histories: History[] = [];
  for (const scenario of isDemo ? demoScenarios : scenarios)
    histories.push(...(await makeScenario(endpoint, scenario)));
  for (const { turns } of isDemo ? demoCutScenarios : cutScenarios) {
    for (const turn of turns)
      histories.push(...(await makeCuts(endpoint, turn)), ...(await makeStops(endpoint, turn)));
  }
  return histories;
}

async function makeCuts(endpoint: ProviderEndpoint, turn: ScenarioTurn): Promise<History[]> {
  const histories: History[] = [];
  for (const [place, answer] of turn.answers.entries()) {
    for (let cutAt = 0; cutAt < endpoint.eventsIn(answer); cutAt += 1) {
      const answers = turn.answers.map((each, at) => ({ answer: each, ...(at === place ? { cutAt } : {}) }));
      const name = `answer ${place + 1} to "${String(turn.asked)}" cut behind ${cutAt} events`;
      histories.push((await makeTurn(endpoint, turn, answers, { name, kind: "cut" })).history);
    }
  }
  return histories;
}

async function makeStops(endpoint: ProviderEndpoint, turn: ScenarioTurn): Promise<History[]> {
  const histories: History[] = [];
  const answers = turn.answers.map((answer) => ({ answer }));
  const { published } = await makeTurn(endpoint, turn, answers, { name: "", kind: "whole" });
  for (let stopAt = 0; stopAt < published; stopAt += 1) {
    const name = `"${String(turn.asked)}" stopped at event ${stopAt}`;
    histories.push((await makeTurn(endpoint, turn, answers, { name, kind: "stopped" }, stopAt)).history);
  }
  return histories;
}

async function makeScenario(endpoint: ProviderEndpoint, scenario: Scenario): Promise<History[]> {
  const log = new ConversationLog();
  const histories: History[] = [];
  const answers = scenario.turns.flatMap((turn) => turn.answers);
  const thoughts = answers.flatMap(({ pieces }) => pieces).filter(({ type }) => type === "think").length;
  endpoint.script(answers.map((answer) => ({ answer, sameIds: scenario.sameIds })));
  for (const [place, turn] of scenario.turns.entries()) {
    await take(endpoint, log, turn);
    const before = histories.at(-1);
    histories.push({
      ...historyOf(endpoint, log, { name: `${scenario.name}, turn ${place + 1}`, kind: "whole" }),
      ...(before === undefined ? {} : { before }),
      ...(scenario.replayable === true ? { thoughts } : {}),
    });
  }
  return histories;
}

async function makeTurn(
  endpoint: ProviderEndpoint,
  turn: ScenarioTurn,
  answers: readonly Scripted[],
  label: Pick<History, "name" | "kind">,
  stopAt?: number,
): Promise<{ history: History; published: number }> {
  const log = new ConversationLog();
  endpoint.script(answers);
  const published = await take(endpoint, log, turn, stopAt);
  return { history: historyOf(endpoint, log, label), published };
}

async function take(
  endpoint: ProviderEndpoint,
  log: ConversationLog,
  turn: ScenarioTurn,
  stopAt?: number,
): Promise<number> {
  const { asked, steering, stopAtFirst, decisions } = turn;
  const { published } = await converse(log, {
    endpoint,
    model: endpoint.models[0],
    asked: typeof asked === "string" ? [{ type: "text", text: asked }] : asked,
    tools,
    steering,
    stopAt,
    stopAtFirst,
    decisions,
  });
  return published;
}

function historyOf(
  endpoint: ProviderEndpoint,
  log: ConversationLog,
  label: Pick<History, "name" | "kind">,
): History {
  const [refused] = endpoint.latest()?.problems ?? [];
  return {
    ...label,
    ...readingsOf(log.lines, log.live),
    ...(refused === undefined ? {} : { refused }),
  };
}

/** Returns the readings of a conversation that all replays share. */
export function readingsOf(
  lines: readonly string[],
  messages: readonly ConversationMessage[],
): Pick<History, "lines" | "live" | "stored" | "key"> {
  const live = shown(messages);
  return { lines: [...lines], live, stored: shownLines(lines.map(reordered)), key: JSON.stringify(live) };
}
