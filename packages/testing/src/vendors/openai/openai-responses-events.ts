/** An item of an answer, to be streamed as the Responses API streams it. */
export type AnswerItem =
  | { readonly type: "reasoning"; readonly summary: readonly string[]; readonly encrypted?: string }
  | {
      readonly type: "message";
      readonly text: string;
      readonly phase?: string;
      readonly sources?: readonly string[];
    }
  | { readonly type: "refusal"; readonly text: string }
  | { readonly type: "function_call"; readonly name: string; readonly arguments: string }
  | { readonly type: "opaque"; readonly item: Readonly<Record<string, unknown>> };

export type ResponsesStreamEvent = { readonly type: string; readonly sequence_number: number } & Record<
  string,
  unknown
>;

export interface AnswerEnding {
  readonly status?: "completed" | "incomplete" | "failed";
  readonly reason?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

const answerUsage = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 100, cache_write_tokens: 5 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 150,
};

/** Returns the events of a whole answer, in the API's order, numbered; ids are made from the places of the items. */
export function responsesEvents(
  items: readonly AnswerItem[],
  ending: AnswerEnding = {},
): ResponsesStreamEvent[] {
  const events: Record<string, unknown>[] = [];
  const status = ending.status ?? "completed";
  events.push({ type: "response.created", response: responseBody("in_progress", []) });
  events.push({ type: "response.in_progress", response: responseBody("in_progress", []) });
  const output = items.map((item, index) => itemEvents(item, index, events));
  events.push({
    type: `response.${status}`,
    response: {
      ...responseBody(status, output),
      error: ending.error ?? null,
      incomplete_details: ending.reason === undefined ? null : { reason: ending.reason },
      usage: answerUsage,
    },
  });
  return events.map((event, index) => ({ ...event, sequence_number: index }) as ResponsesStreamEvent);
}

function responseBody(status: string, output: readonly unknown[]): Record<string, unknown> {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_763_200_000,
    status,
    error: null,
    incomplete_details: null,
    model: "gpt-test-2026-01-01",
    output,
    usage: null,
  };
}

/** Pushes the events of one item and returns the item as it is when it is done. */
function itemEvents(
  item: AnswerItem,
  index: number,
  events: Record<string, unknown>[],
): Record<string, unknown> {
  const place = { output_index: index };
  const added = (begun: object) => events.push({ type: "response.output_item.added", ...place, item: begun });
  const done = (whole: Record<string, unknown>) => {
    events.push({ type: "response.output_item.done", ...place, item: whole });
    return whole;
  };
  switch (item.type) {
    case "reasoning": {
      const id = `rs_${index}`;
      added({ type: "reasoning", id, summary: [], encrypted_content: "UNFINISHED" });
      for (const [n, text] of item.summary.entries()) {
        const at = { ...place, item_id: id, summary_index: n };
        const part = { type: "summary_text", text };
        events.push({ type: "response.reasoning_summary_part.added", ...at, part: { ...part, text: "" } });
        for (const delta of pieces(text)) {
          events.push({ type: "response.reasoning_summary_text.delta", ...at, delta });
        }
        events.push({ type: "response.reasoning_summary_text.done", ...at, text });
        events.push({ type: "response.reasoning_summary_part.done", ...at, part });
      }
      const summary = item.summary.map((text) => ({ type: "summary_text", text }));
      const encrypted = item.encrypted === undefined ? {} : { encrypted_content: item.encrypted };
      return done({ type: "reasoning", id, summary, ...encrypted });
    }
    case "message":
    case "refusal": {
      const id = `msg_${index}`;
      const phase = item.type === "message" && item.phase !== undefined ? { phase: item.phase } : {};
      const begun = { type: "message", id, role: "assistant", ...phase };
      const at = { ...place, item_id: id, content_index: 0 };
      added({ ...begun, status: "in_progress", content: [] });
      const kind = item.type === "message" ? "output_text" : "refusal";
      const part = messagePart(item);
      events.push({ type: "response.content_part.added", ...at, part: messagePart({ ...item, text: "" }) });
      for (const delta of pieces(item.text)) {
        events.push({ type: `response.${kind}.delta`, ...at, delta, logprobs: [], obfuscation: "x7" });
      }
      const said = item.type === "message" ? { text: item.text } : { refusal: item.text };
      events.push({ type: `response.${kind}.done`, ...at, ...said });
      events.push({ type: "response.content_part.done", ...at, part });
      return done({ ...begun, status: "completed", content: [part] });
    }
    case "function_call": {
      const id = `fc_${index}`;
      const call = { type: "function_call", id, call_id: `call_${index}`, name: item.name };
      added({ ...call, arguments: "", status: "in_progress" });
      for (const delta of pieces(item.arguments)) {
        events.push({ type: "response.function_call_arguments.delta", ...place, item_id: id, delta });
      }
      events.push({
        type: "response.function_call_arguments.done",
        ...place,
        item_id: id,
        arguments: item.arguments,
      });
      return done({ ...call, arguments: item.arguments, status: "completed" });
    }
    default:
      added({ ...item.item, status: "in_progress" });
      return done({ ...item.item });
  }
}

function messagePart(item: Extract<AnswerItem, { type: "message" | "refusal" }>): Record<string, unknown> {
  if (item.type === "refusal") return { type: "refusal", refusal: item.text };
  const annotations = (item.sources ?? []).map((url) => ({
    type: "url_citation",
    url,
    title: `Title of ${url}`,
    start_index: 0,
    end_index: 1,
  }));
  return { type: "output_text", text: item.text, annotations, logprobs: [] };
}

/** Cuts a text into several pieces, regardless of words. */
export function pieces(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / 3));
  const cut: string[] = [];
  for (let at = 0; at < text.length; at += size) cut.push(text.slice(at, at + size));
  return cut;
}
