import { randomUUID } from "node:crypto";
import { ParleyError } from "@parley/core";
import type { ExternalMessage } from "@parley/core/runtime";
import type { AgentEvent, Usage } from "@parley/wire";
import { faceEndpoint } from "../../http/endpoint.js";
import { openFaceStream, whenCallerLeaves } from "../face-stream.js";
import { PacedWriter } from "../paced-writer.js";
import { refusal } from "./failure.js";
import { contentOf, parseInput } from "./input-items.js";
import { TurnProjection } from "./project-turn.js";
import { callerToolsOf, chosenTools, effortOf, modelOf, outputOf } from "./request.js";
import { seconds, statusOf } from "./response-object.js";
import { type ChatBody, chatAnswer, chatBody } from "./schemas.js";

type Fields = Readonly<Record<string, unknown>>;

/** Reads the messages of a chat as items. */
function inputOf(messages: readonly Fields[]) {
  const items = messages.flatMap((message, index): Fields[] => {
    const { role, content } = message;
    if (role === "tool") {
      return [
        { type: "function_call_output", call_id: message.tool_call_id, output: textOf(content, index) },
      ];
    }
    const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as Fields[]) : [];
    const said = content === null || content === undefined || content === "" ? [] : [{ role, content }];
    return [
      ...said,
      ...calls.map((call) => ({ type: "function_call", call_id: call.id, ...(call.function as Fields) })),
    ];
  });
  const input = parseInput(items);
  const [orphan] = input.outputs.keys();
  if (orphan === undefined) return input;
  throw refusal(400, `No tool call found for tool_call_id ${orphan}.`, { param: "messages" });
}

function textOf(content: unknown, index: number): string {
  return contentOf(content, `messages.${index}.content`)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n");
}

function formatOf(format: Fields | null | undefined): Fields | null | undefined {
  if (format?.type !== "json_schema") return format;
  return { type: "json_schema", ...(format.json_schema as Fields | undefined) };
}

/** Fields that a completion repeats in each of its pieces. */
interface ChatHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

const finishReasons: Readonly<Record<string, string>> = {
  length: "length",
  "max-steps": "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
};

/** Reads the events of a turn to its end. Rejects if the turn failed: nothing of it is kept to be read later. */
async function finish(events: AsyncIterable<AgentEvent>, projection: TurnProjection, onEvent: () => void) {
  for await (const event of events) {
    projection.take(event);
    onEvent();
    if (event.type === "error")
      throw new ParleyError((event.code ?? "internal") as "internal", event.message);
  }
  projection.finish();
  const end = projection.end ?? { reason: "stop" };
  const { status, error } = statusOf(end);
  if (status === "failed") throw new ParleyError("internal", error?.message);
  return finishReasons[end.reason] ?? "stop";
}

function usageOf(usage: Usage | undefined) {
  const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, reasoningTokens = 0 } = usage ?? {};
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  };
}

/**
 * Returns the answer of a turn: its texts, and the calls that are left to the caller. Calls that ran here are not
 * shown.
 */
function answerOf(projection: TurnProjection) {
  const texts: string[] = [];
  const calls: object[] = [];
  for (const item of projection.items) {
    if (item.type === "message") texts.push(...item.content.map((part) => ("text" in part ? part.text : "")));
    if (item.type !== "function_call") continue;
    const { call_id: id, name, arguments: text } = item;
    calls.push({ id, type: "function", function: { name, arguments: text } });
  }
  return { text: texts.join("\n\n"), calls };
}

function chunk({ id, created, model }: ChatHead, fields: object): Buffer {
  return Buffer.from(
    `data: ${JSON.stringify({ id, object: "chat.completion.chunk", created, model, ...fields })}\n\n`,
  );
}

function choice(delta: object, finishReason: string | null = null): object {
  return { choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] };
}

function unkeptInput(body: ChatBody, messages: readonly ExternalMessage[], instructions: readonly string[]) {
  const most = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  return {
    messages,
    reasoningEffort: effortOf(body.reasoning_effort),
    instructions: instructions.length === 0 ? undefined : instructions.join("\n\n"),
    ...chosenTools(
      body.tool_choice,
      callerToolsOf(body.tools, (tool) => (tool.function ?? {}) as Fields),
    ),
    maxOutputTokens: most,
    output: outputOf(formatOf(body.response_format), body.stream === true ? 0 : undefined),
  };
}

export const chatEndpoints = [
  faceEndpoint("POST /chat/completions", {
    operationId: "openaiCreateChatCompletion",
    refusals: [404, 409, 402, 422],
    holdsFiles: true,
    summary: "Answer a chat that the caller keeps itself",
    access: "write",
    body: chatBody,
    response: chatAnswer,
    async handle({ body, me, caller, c, app }) {
      const models = app.runtime.models();
      const model = modelOf(body.model, models);
      const { messages, instructions } = inputOf(body.messages);
      const head: ChatHead = {
        id: `chatcmpl-${randomUUID()}`,
        created: seconds(app.clock.now()),
        model: model ?? models.defaultModel ?? "",
      };
      const leave = new AbortController();
      const input = unkeptInput(body, messages, instructions);
      const events = me.runUnkept({ ...input, model, signal: leave.signal });
      const holdsText = input.output !== undefined && input.output.retries !== 0;
      const callerTools = input.tools?.map(({ name }) => name);
      const place = openFaceStream(c, app, caller);
      if (body.stream !== true) {
        whenCallerLeaves(c, () => leave.abort());
        try {
          const projection = new TurnProjection({ stretch: 0, holdsText, callerTools });
          const reason = await finish(events, projection, () => {});
          const { text, calls } = answerOf(projection);
          const message = {
            role: "assistant",
            content: text === "" && calls.length > 0 ? null : text,
            refusal: null,
            ...(calls.length === 0 ? {} : { tool_calls: calls }),
          };
          const choices = [{ index: 0, message, logprobs: null, finish_reason: reason }];
          return c.json({ ...head, object: "chat.completion", choices, usage: usageOf(projection.usage) });
        } finally {
          place.abandon();
        }
      }
      const iterator = events[Symbol.asyncIterator]();
      let first: IteratorResult<AgentEvent>;
      try {
        first = await iterator.next();
      } catch (error) {
        place.abandon();
        throw error;
      }
      const stream = place.begin({});
      const writer = new PacedWriter(stream);
      writer.write(chunk(head, choice({ role: "assistant", content: "" })));
      let texts = 0;
      let lastIndex = -1;
      const projection = new TurnProjection({
        stretch: 0,
        holdsText,
        callerTools,
        listener: {
          onEvent: () => {},
          onDelta({ kind, delta, outputIndex }) {
            if (kind !== "text") return;
            // Texts of several steps are one answer here.
            if (outputIndex !== lastIndex && texts > 0)
              writer.write(chunk(head, choice({ content: "\n\n" })));
            if (outputIndex !== lastIndex) texts += 1;
            lastIndex = outputIndex;
            writer.write(chunk(head, choice({ content: delta })));
          },
        },
      });
      void stream.over.then(() => leave.abort());
      const writeTurn = async () => {
        const all = behind(first, iterator);
        const reason = await finish(all, projection, () => {});
        for (const [index, call] of answerOf(projection).calls.entries()) {
          writer.write(chunk(head, choice({ tool_calls: [{ index, ...call }] })));
        }
        writer.write(chunk(head, choice({}, reason)));
        if (body.stream_options?.include_usage === true) {
          writer.write(chunk(head, { choices: [], usage: usageOf(projection.usage) }));
        }
        writer.end(Buffer.from("data: [DONE]\n\n"));
      };
      writeTurn().catch(() => stream.cut());
      return stream.response;
    },
  }),
];

async function* behind(
  first: IteratorResult<AgentEvent>,
  rest: AsyncIterator<AgentEvent>,
): AsyncGenerator<AgentEvent, void, undefined> {
  for (let next = first; !next.done; next = await rest.next()) yield next.value;
}
