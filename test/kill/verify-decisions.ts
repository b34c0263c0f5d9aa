import { stableValue } from "@parley/core/messages";
import type { InputRequestEntry, InputResponseEntry, StoredChunk } from "@parley/wire";
import { type ClientRecord, toolsThatAsk } from "./client-record.js";
import type { Finding } from "./verify.js";

/** Possible results of calls that were cut off, or approved and not started. */
const cutOff = [
  "The call was interrupted before it had a result.",
  "This call was approved, but the turn ended before it was run.",
];

interface Logged<Entry> {
  readonly entry: Entry;
  readonly seq: number;
}

/**
 * Compares the requests and responses of a log in which nothing runs with the record: each request has one response,
 * each acknowledged decision is in the log as it was; no tool ran without an approval, with other arguments than were
 * approved, or twice if it must not; and results match the decisions.
 */
export function checkDecisions(
  record: ClientRecord,
  conversationId: string,
  chunks: readonly StoredChunk[],
): Finding[] {
  const findings: Finding[] = [];
  const find = (kind: Finding["kind"], words: string) => findings.push({ kind, words });
  const requests = new Map<string, Logged<InputRequestEntry>>();
  const responses = new Map<string, Logged<InputResponseEntry>>();
  const results = new Map<string, { readonly content: string; readonly seq: number }>();
  const calls = new Map<string, { readonly name: string; readonly input: string }>();
  for (const { chunk, seq } of chunks) {
    if (chunk.type === "tool-call") {
      const { toolCallId, toolName, input } = chunk;
      calls.set(toolCallId, { name: toolName, input: JSON.stringify(stableValue(input)) });
    }
    if (chunk.type === "tool-result") results.set(chunk.toolCallId, { content: chunk.content, seq });
    if (chunk.type !== "system" || chunk.input === undefined) continue;
    const entry = chunk.input;
    const known = entry.type === "input-request" ? requests : responses;
    if (known.has(entry.requestId)) find("decision", `${entry.type} ${entry.requestId} is there twice`);
    if (entry.type === "input-request") requests.set(entry.requestId, { entry, seq });
    else {
      if (!requests.has(entry.requestId)) find("decision", `${entry.requestId} was decided and never asked`);
      responses.set(entry.requestId, { entry, seq });
    }
  }
  for (const requestId of requests.keys()) {
    if (!responses.has(requestId)) find("decision", `${requestId} has no response`);
  }
  for (const [requestId, received] of record.decisions) {
    if (received.conversationId !== conversationId) continue;
    const kept = responses.get(requestId);
    const is = kept === undefined ? "nothing" : JSON.stringify(stableValue(kept.entry));
    if (is !== received.response)
      find("decision", `${requestId} was decided as ${received.response} and is ${is}`);
  }
  const approvals = new Map<string, Logged<InputResponseEntry>>();
  for (const [requestId, logged] of responses) {
    if (requests.get(requestId)?.entry.kind !== "question") approvals.set(logged.entry.toolCallId, logged);
    const problem = resultProblem(logged, results.get(logged.entry.toolCallId));
    if (problem !== undefined) find("decision", `${requestId}: ${problem}`);
  }
  for (const id of record.undecided) {
    if (record.started.get(id)?.conversationId !== conversationId) continue;
    find("undecided", `call ${id} ran before anyone had sent a decision`);
  }
  for (const [id, { conversationId: at, name, times, inputs }] of record.started) {
    if (at !== conversationId || !toolsThatAsk.has(name)) continue;
    const { entry } = approvals.get(id) ?? {};
    if (entry?.decision !== "allow")
      find("undecided", `call ${id} ran, and was decided as ${entry?.decision}`);
    if (name === "pay" && times > 1) find("twice", `call ${id} ran ${times} times`);
    const text = entry?.argumentsText;
    const expected =
      text === undefined ? calls.get(id)?.input : JSON.stringify(stableValue(JSON.parse(text)));
    for (const input of inputs) {
      const given = JSON.stringify(stableValue(JSON.parse(input)));
      if (given !== expected) find("bytes", `call ${id} ran with ${given}, and ${expected} was approved`);
    }
  }
  return findings;
}

/** Returns the problem of the result of a call that requested input. */
function resultProblem(
  { entry, seq }: Logged<InputResponseEntry>,
  result: { readonly content: string; readonly seq: number } | undefined,
): string | undefined {
  if (result === undefined) return "its call has no result";
  const { content } = result;
  if (result.seq < seq) return "its result stands before the response";
  const { toolName, toolCallId, decision, argumentsText, value } = entry;
  const ran = `${toolName} answers ${toolCallId}`;
  switch (decision) {
    case "allow": {
      const changed = `The user changed the arguments of this call to ${argumentsText}\n\n${ran}`;
      const isRight = content === (argumentsText === undefined ? ran : changed) || cutOff.includes(content);
      return isRight ? undefined : `allowed, with the result "${content}"`;
    }
    case "answer":
      // A tool that asks while it runs continues to a result of its own.
      return content === value || content === ran || cutOff.includes(content)
        ? undefined
        : `answered with "${value}", with the result "${content}"`;
    default:
      return toolName === "inquire" ||
        content.includes("not run") ||
        content.startsWith("No answer was given")
        ? undefined
        : `denied, with the result "${content}"`;
  }
}
