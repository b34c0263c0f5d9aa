import type { ConversationState, ToolCallState } from "@parley/client";
import { waitingCallsOf } from "@parley/client/tool-calls";
import { useEffect, useRef, useState } from "react";
import { joinedText } from "../message-text.js";
import { spokenText } from "./spoken-text.js";
import { waitingWords } from "./waiting-words.js";

/**
 * Announces to screen readers that a turn has started, what it asks for, and its answer once it is complete: not word
 * by word.
 */
export function Announcer({ state }: { readonly state: ConversationState }) {
  const [said, setSaid] = useState("");
  const running = state.activeTurn?.turnId;
  const before = useRef(running);
  useEffect(() => {
    const ended = before.current;
    before.current = running;
    if (running !== undefined && running !== ended) setSaid("The assistant is answering.");
    else if (running === undefined && ended !== undefined) setSaid(ending(state, ended));
  }, [running, state]);
  const waiting = waitingCallsOf(state);
  const asked = waiting
    .flatMap(({ inputs = [] }) => inputs)
    .map(({ request, response }) => (response === undefined ? request.requestId : ""))
    .join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each set of requests
  useEffect(() => {
    if (waiting.length > 0) setSaid(asking(waiting));
  }, [asked]);
  const progress = state.activeTurn?.progress;
  useEffect(() => {
    if (progress === undefined) return;
    const { text, cause } = waitingWords("model", progress, 0);
    setSaid(cause === undefined ? `${text}.` : `${text}. ${cause}.`);
  }, [progress]);
  return (
    <p aria-live="polite" className="sr-only">
      {said}
    </p>
  );
}

function asking(calls: readonly ToolCallState[]): string {
  const [first] = calls;
  if (calls.length > 1 || first === undefined) return `The turn waits for ${calls.length} decisions.`;
  const open = first.inputs?.find(({ response }) => response === undefined);
  const { kind, toolName, reason = "" } = open?.request ?? { kind: "", toolName: "" };
  if (kind === "question") return `A question for you: ${reason.slice(0, 600)}`;
  if (kind === "tool-output") return `The turn waits for the output of ${toolName}.`;
  return `The assistant asks for your approval to run ${toolName}.`;
}

function ending(state: ConversationState, turnId: string): string {
  const turn = state.turns[turnId];
  if (turn?.reason === "error") return `The turn failed. ${turn.error?.message ?? ""}`;
  if (turn?.reason === "aborted") return "The turn was stopped.";
  const answer = state.messages.filter(
    (message) => message.turnId === turnId && message.role === "assistant",
  );
  return `The assistant answered: ${spokenText(joinedText(answer.slice(-1)).slice(0, 2_000)).slice(0, 600)}`;
}
