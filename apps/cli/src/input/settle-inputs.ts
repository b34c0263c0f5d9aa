import { setTimeout } from "node:timers/promises";
import { type ParleyClient, ParleyRequestError } from "@parley/client";
import { inputRequests } from "@parley/client/input";
import type { PendingRequest, RespondRequest } from "@parley/wire";
import type { Io } from "../io.js";
import { dataLine, escapeInvisible } from "../terminal/data-text.js";
import { clip } from "../terminal/text-width.js";
import type { VerbContext } from "../verb-context.js";
import type { ApproveMode } from "./approve-mode.js";
import { askAtTerminal } from "./ask-at-terminal.js";
import { decisionText } from "./decision-text.js";

/** The outcome of settling. `left`: a request still waits, and is not decided here. */
export type Settled = "decided" | "left" | "interrupted";

/**
 * Decides the open requests of a conversation's turn according to the mode, and reports each decision on standard error.
 * Only the caller that defined a tool can give its output.
 */
export async function settleInputs(
  client: ParleyClient,
  conversationId: string,
  mode: ApproveMode,
  context: Pick<VerbContext, "io">,
): Promise<Settled> {
  const { io } = context;
  // Read before the list, so that a subscriber from this cursor sees later decisions.
  const { cursor } = await client.request("GET /conversations/:id/meta", { params: { id: conversationId } });
  const pending = await inputRequests(client.request).pending({ conversationId });
  // The last one was decided elsewhere: the turn goes on in a moment.
  if (pending.length === 0) await setTimeout(100);
  const ours = pending.filter(({ kind }) => kind === "approval" || kind === "question");
  for (const [index, request] of ours.entries()) {
    const asked = { count: ours.length - index, cursor };
    const settled =
      mode === "ask" ? await ask(client, request, io, asked) : await decide(client, request, mode, io);
    if (settled !== "decided") return sayLeft(settled, pending.length - index, io);
  }
  return ours.length === pending.length ? "decided" : sayLeft("left", pending.length - ours.length, io);
}

function sayLeft(settled: Settled, count: number, io: Io): Settled {
  io.warn(
    io.errorStyle.yellow(
      `The turn waits for ${count === 1 ? "one answer" : `${count} answers`}: parley pending`,
    ),
  );
  return settled;
}

async function ask(
  client: ParleyClient,
  request: PendingRequest,
  io: Io,
  options: { readonly count: number; readonly cursor: string | undefined },
): Promise<Settled> {
  for (let problem: string | undefined; ; ) {
    const asked = await askAtTerminal(client, request, io, {
      ...options,
      ...(problem === undefined ? {} : { problem }),
    });
    if (asked.outcome === "decided") {
      sayDecision(request, decisionText(asked.response), io);
      return "decided";
    }
    if (asked.outcome !== "responded") return asked.outcome === "later" ? "left" : "interrupted";
    try {
      sayDecision(request, await respond(client, request, asked.response), io);
      return "decided";
    } catch (error) {
      // An answer of another form, or arguments that the tool refuses: asked again, with the reason.
      if (!(error instanceof ParleyRequestError) || error.code !== "invalid_request") throw error;
      problem = error.message;
    }
  }
}

async function decide(
  client: ParleyClient,
  request: PendingRequest,
  mode: "never" | "all",
  io: Io,
): Promise<Settled> {
  const { kind, argumentsHash } = request;
  const isAllowed = mode === "all" && kind === "approval";
  const response: RespondRequest = isAllowed
    ? { decision: "allow", argumentsHash }
    : { decision: "deny", note: "no approver is available" };
  const said = await respond(client, request, response);
  sayDecision(request, isAllowed ? said : `${said}. ${advices[kind] ?? ""}`, io);
  return "decided";
}

const advices: Readonly<Record<string, string>> = {
  approval: "At a terminal --approve ask asks; --approve all allows everything.",
  question: "At a terminal --approve ask asks.",
};

/** Responds, and returns the decision in force as text: another client may have decided first. */
async function respond(
  client: ParleyClient,
  request: PendingRequest,
  response: RespondRequest,
): Promise<string> {
  try {
    return decisionText((await inputRequests(client.request).respond(request, response)).response);
  } catch (error) {
    const decided = error instanceof ParleyRequestError ? error.problem?.response : undefined;
    if (decided === undefined) throw error;
    return decisionText(decided);
  }
}

function sayDecision({ toolName, argumentsText }: PendingRequest, said: string, io: Io): void {
  const what = `${escapeInvisible(toolName)} ${clip(dataLine(argumentsText), 100)}`;
  io.warn(io.errorStyle.yellow(`? ${what}: ${said}`));
}
