import type { PartState } from "@parley/client";
import type { ToolCallChunk } from "@parley/wire";
import { memo } from "react";
import { MessageFiles } from "../../files/message-files.js";
import { cx } from "../../ui/cx.js";
import { useConversationActions } from "../conversation-context.js";
import type { StepRow } from "../transcript/rows.js";
import { AnswerText } from "./answer-text.js";
import { OtherPart } from "./other-part.js";
import { ReasoningFold } from "./reasoning-fold.js";
import { ToolCard } from "./tool-card.js";

type Segment =
  | { readonly kind: "part"; readonly part: PartState }
  | { readonly kind: "tools"; readonly key: string; readonly calls: readonly PartState[] };

/** One step of the answer: reasoning, text, and the tools that were called together. */
export const Step = memo(function Step({ row }: { readonly row: StepRow }) {
  const { message, results, inputs, files, toolsSince, liveTurn, first } = row;
  const { conversationId } = useConversationActions();
  const lastSaid = message.parts.findLastIndex(
    ({ chunk }) => chunk.type === "text" || chunk.type === "tool-call",
  );
  const resultOf = new Map(
    results.flatMap((result) => (result === undefined ? [] : [[result.toolCallId, result]])),
  );
  const inputsOf = new Map(
    inputs.flatMap((asked) => {
      const toolCallId = asked?.[0]?.request.toolCallId;
      return asked === undefined || toolCallId === undefined ? [] : [[toolCallId, asked]];
    }),
  );
  return (
    <article aria-label="Assistant" className={cx("py-1", first && "pt-2")}>
      {segmentsOf(message.parts).map((segment) => {
        if (segment.kind === "tools") {
          return (
            <ToolGroup key={segment.key} count={segment.calls.length}>
              {segment.calls.map(({ key, chunk }) => {
                const call = chunk as ToolCallChunk;
                return (
                  <ToolCard
                    key={key}
                    call={call}
                    result={resultOf.get(call.toolCallId)}
                    inputs={inputsOf.get(call.toolCallId)}
                    output={liveTurn?.toolOutput[call.toolCallId] ?? ""}
                    startedAt={toolsSince}
                    live={liveTurn !== undefined}
                  />
                );
              })}
            </ToolGroup>
          );
        }
        const { part } = segment;
        const { chunk } = part;
        if (chunk.type === "thinking") {
          return <ReasoningFold key={part.key} part={part} answered={part.index < lastSaid} />;
        }
        if (chunk.type === "text" && chunk.file !== undefined) {
          return <MessageFiles key={part.key} conversationId={conversationId} files={[chunk.file]} />;
        }
        if (chunk.type === "text") {
          return <AnswerText key={part.key} text={chunk.text} streaming={part.streaming} />;
        }
        if (chunk.type === "tool-result") {
          return (
            <ToolGroup key={part.key} count={1}>
              <ToolCard call={undefined} result={chunk} output="" live={false} />
            </ToolGroup>
          );
        }
        return <OtherPart key={part.key} chunk={chunk} />;
      })}
      <MessageFiles conversationId={conversationId} files={files} />
    </article>
  );
});

function ToolGroup({ count, children }: { readonly count: number; readonly children: React.ReactNode }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      role="group"
      aria-label={count === 1 ? "Tool call" : `${count} tool calls of one step`}
      className="my-3 divide-y divide-line overflow-hidden rounded-lg border border-line bg-raised"
    >
      {count > 1 && <p className="bg-panel px-3 py-1.5 text-xs text-faint">{count} tools at once</p>}
      {children}
    </div>
  );
}

/** Groups adjacent calls. */
function segmentsOf(parts: readonly PartState[]): readonly Segment[] {
  const segments: Segment[] = [];
  for (const part of parts) {
    const last = segments.at(-1);
    if (part.chunk.type !== "tool-call") segments.push({ kind: "part", part });
    else if (last?.kind === "tools")
      segments[segments.length - 1] = { ...last, calls: [...last.calls, part] };
    else segments.push({ kind: "tools", key: part.key, calls: [part] });
  }
  return segments;
}
