import { toAiSdkMessages } from "@parley/providers/ai-sdk";
import { modelMessageSchema } from "ai";
import { readLines } from "./conversation-log.js";
import { type History, makeHistories } from "./make-histories.js";
import { type MixedTurn, makeMixedConversation } from "./mixed-conversation.js";
import type { ProviderEndpoint } from "./provider-endpoint.js";
import { replay } from "./replay.js";

/** Conversations of one origin. */
export interface Row {
  readonly name: string;
  /** Undefined for the conversation that all of them made. */
  readonly maker: ProviderEndpoint | undefined;
  readonly histories: readonly History[];
  /** In the order of the endpoints. */
  readonly cells: readonly Cell[];
  /** Objections of the AI SDK's own schema to the histories. */
  readonly schemaProblems: readonly string[];
}

/** Conversations of one origin, shown to one provider. */
export interface Cell {
  readonly reader: ProviderEndpoint;
  /** One line for each history that was refused or changed. */
  readonly failures: readonly string[];
}

export interface Matrix {
  readonly endpoints: readonly ProviderEndpoint[];
  readonly rows: readonly Row[];
  readonly mixed: readonly MixedTurn[];
}

/**
 * Lets every provider make its conversations and shows them all to every provider. `thorough`: each conversation to
 * both models of each provider, instead of the cut ones to one of them in turn.
 */
export async function buildMatrix(
  endpoints: readonly ProviderEndpoint[],
  { thorough = false }: { readonly thorough?: boolean } = {},
): Promise<Matrix> {
  const made = await Promise.all(endpoints.map(makeHistories));
  const mixed = await makeMixedConversation(endpoints);
  for (const endpoint of endpoints) endpoint.script([]);
  const origins = [
    ...endpoints.map((maker, place) => ({ name: maker.name, maker, histories: made[place] ?? [] })),
    { name: "All of them, in turn", maker: undefined, histories: everyFifth(mixed) },
  ];
  const columns = await Promise.all(
    endpoints.map(async (reader) => {
      const cells: Cell[] = [];
      for (const { maker, histories } of origins) {
        cells.push(await fillCell(reader, maker, histories, thorough));
      }
      return cells;
    }),
  );
  const rows = origins.map((origin, place) => ({
    ...origin,
    cells: columns.flatMap((cells) => cells[place] ?? []),
    schemaProblems: origin.histories.flatMap(schemaProblems),
  }));
  return { endpoints, rows, mixed };
}

function everyFifth(turns: readonly MixedTurn[]): History[] {
  return turns.flatMap(({ history }, place) => ((place + 1) % 5 === 0 ? [history] : []));
}

async function fillCell(
  reader: ProviderEndpoint,
  maker: ProviderEndpoint | undefined,
  histories: readonly History[],
  thorough: boolean,
): Promise<Cell> {
  const failures: string[] = [];
  const earlier = new Map<History, string>();
  // Cuts between which nothing arrived give the same conversation, and so the same request.
  const known = new Map<string, readonly string[]>();
  for (const [place, history] of histories.entries()) {
    const usual = maker === undefined ? "first" : maker === reader ? undefined : modelsFor(history, place);
    const models = thorough ? undefined : usual;
    const key = history.kind === "whole" ? history.name : history.key;
    const problems = known.get(key) ?? (await replay(reader, { history, maker, models, earlier }));
    known.set(key, problems);
    if (problems.length > 0) failures.push(`${history.name}: ${problems.join("; ")}`);
  }
  return { reader, failures };
}

/**
 * Returns the models that are shown a history: whole conversations go to both models of a provider, of the others each
 * model sees every second one.
 */
function modelsFor({ kind }: History, place: number): "first" | "second" | undefined {
  if (kind === "whole") return undefined;
  return place % 2 === 0 ? "first" : "second";
}

function schemaProblems(history: History): string[] {
  const checked = toAiSdkMessages(readLines(history.lines)).map((message) =>
    modelMessageSchema.safeParse(message),
  );
  return checked.flatMap(({ error }) => (error === undefined ? [] : [`${history.name}: ${error.message}`]));
}
