import type { ParleyClient } from "@parley/client";
import type { ProviderCallInfo } from "@parley/wire";
import { CliError } from "../../cli-error.js";
import { resolveAmong, resolveConversation } from "../../resolve-id.js";
import { counted } from "../../terminal/figures.js";
import type { VerbContext } from "../../verb-context.js";
import { manifestTree } from "./manifest-tree.js";

export interface ContextOptions {
  readonly turn?: string;
  readonly call?: number;
  readonly json?: boolean;
}

/** Shows the context of a turn's calls, and what changed from one to the next. */
export async function context(word: string, options: ContextOptions, verb: VerbContext): Promise<void> {
  const { io } = verb;
  const client = await verb.client();
  const id = await resolveConversation(client, word);
  const { turns } = await client.request("GET /conversations/:id/metrics", { params: { id } });
  const ids = turns.map(({ turnId }) => turnId);
  if (ids.length === 0) {
    throw new CliError("No turn has ended in this conversation yet.", {
      advice: "Call this again after the first answer.",
    });
  }
  const turnId = chosenTurn(options.turn, ids);
  const detail = await client.request("GET /conversations/:id/turns/:turnId", { params: { id, turnId } });
  const calls = detail.providerCalls;
  if (options.call !== undefined && (options.call < 1 || options.call > calls.length)) {
    throw new CliError(
      `This turn made ${counted(calls.length, "call")}: there is no number ${options.call}.`,
      { advice: "Leave --call out to see all of them." },
    );
  }
  if (options.json) return io.json(options.call === undefined ? calls : calls[options.call - 1]);
  const { style } = io;
  const place = ids.indexOf(turnId) + 1;
  io.line(
    `${style.bold(`Turn ${place} of ${ids.length}`)} ${style.dim(`${turnId} · ${detail.model ?? "?"} · ${detail.reason ?? detail.status}`)}`,
  );
  if (calls.length === 0) return io.note("No call to a model was kept with this turn.");
  let before = await lastCallBefore(client, id, ids, place - 1);
  for (const [index, call] of calls.entries()) {
    if (options.call === undefined || options.call === index + 1) {
      const last = options.call !== undefined || index === calls.length - 1;
      io.lines(manifestTree(call, before, { number: index + 1, isLast: last, style, columns: io.columns }));
    }
    before = call;
  }
}

/** Returns the id of a turn that is named by its number (negative: from the end) or its id; by default the newest. */
function chosenTurn(word: string | undefined, ids: readonly string[]): string {
  const number = word === undefined ? -1 : /^-?\d{1,6}$/.test(word) ? Number(word) : undefined;
  if (number === undefined) return resolveAmong(word ?? "", ids, "turn");
  const found = ids.at(number > 0 ? number - 1 : number);
  if (found === undefined || number === 0)
    throw new CliError(
      `There is no turn ${number}: there ${ids.length === 1 ? "is" : "are"} only ${ids.length}.`,
      { advice: "`parley metrics` lists the turns; without --turn the newest is shown." },
    );
  return found;
}

/** The call that the first call of a turn is compared with. */
async function lastCallBefore(
  client: ParleyClient,
  id: string,
  ids: readonly string[],
  place: number,
): Promise<ProviderCallInfo | undefined> {
  const turnId = ids[place - 1];
  if (turnId === undefined) return undefined;
  const { providerCalls } = await client.request("GET /conversations/:id/turns/:turnId", {
    params: { id, turnId },
  });
  return providerCalls.findLast(
    ({ purpose = "step", manifest }) => purpose === "step" && manifest !== undefined,
  );
}
