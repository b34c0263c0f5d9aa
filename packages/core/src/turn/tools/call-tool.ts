import { omitUndefined } from "@parley/fold";
import type { Clock } from "../../clock.js";
import { onAbort } from "../../messages/abort.js";
import {
  type FileContentPart,
  type MessageContentPart,
  type ToolCallContentPart,
  textOfValue,
} from "../../messages/part.js";
import { toBase64 } from "../../messages/text/base64.js";
import type { TurnSetup } from "../turn.js";
import type { QuestionsOfCall } from "./call-questions.js";
import { isToolOutput, type Tool, type ToolFile } from "./tool.js";
import type { Output } from "./tool-output-bounds.js";
import { type Answer, interrupted } from "./tool-result.js";
import { validateArguments } from "./validate-arguments.js";

/** Environment of a call. */
export interface CallFrame {
  readonly stepId: string;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly output: Output;
  /** Absent if there is no one to ask. */
  readonly questions: QuestionsOfCall | undefined;
}

/** Runs one call. Never rejects, and does not wait for a tool that ignores a stop or its time limit. */
export async function callTool(
  setup: TurnSetup,
  tool: Tool<never>,
  call: ToolCallContentPart,
  frame: CallFrame,
): Promise<Answer> {
  const { clock, timeoutMs, questions } = frame;
  const abort = new AbortController();
  let finish: (answer: Answer) => void = () => {};
  const cutOff = new Promise<Answer>((resolve) => {
    finish = resolve;
  });
  const cancelTimer = clock.after(timeoutMs, () => {
    void questions?.end("expiry");
    abort.abort();
    finish({ text: `The tool took longer than ${timeoutMs} ms and was stopped.`, isError: true });
  });
  const stopListening = onAbort(setup.signal, () => {
    abort.abort();
    finish(interrupted());
  });
  try {
    return await Promise.race([execute(setup, tool, call, abort.signal, frame), cutOff]);
  } finally {
    cancelTimer();
    stopListening();
    // The result of a call comes after the end of its questions.
    await questions?.end("end");
  }
}

async function execute(
  setup: TurnSetup,
  tool: Tool<never>,
  call: ToolCallContentPart,
  signal: AbortSignal,
  { stepId, output, questions }: CallFrame,
): Promise<Answer> {
  try {
    const checked = await validateArguments(tool, call);
    if (!checked.ok) return { text: checked.message, isError: true };
    if (signal.aborted) return interrupted();
    const value: unknown = await tool.execute(checked.value as never, {
      conversationId: setup.conversationId,
      turnId: setup.turnId,
      stepId,
      toolCallId: call.toolCallId ?? "",
      ...omitUndefined({ owner: setup.owner, ask: questions?.ask }),
      signal,
      output,
    });
    if (isToolOutput(value)) {
      const files = await storedFiles(setup, value.files ?? []);
      const { content, isError = false } = value;
      return { text: textOfValue(content), isError, ...(files.length === 0 ? {} : { files }) };
    }
    return { text: textOfValue(value), isError: false };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { text: `The tool failed: ${message === "" ? "no reason given" : message}`, isError: true };
  }
}

async function storedFiles(
  { storeFiles }: TurnSetup,
  files: readonly ToolFile[],
): Promise<readonly MessageContentPart[]> {
  const parts = files.map(({ mediaType, data, name }): FileContentPart => {
    return { type: "file", mediaType, data: toBase64(data), ...omitUndefined({ filename: name }) };
  });
  return parts.length === 0 || storeFiles === undefined ? parts : storeFiles(parts);
}
