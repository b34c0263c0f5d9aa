import type { ConversationState } from "@parley/client";
import { useEffect, useRef, useState } from "react";
import { joinedText } from "../message-text.js";

/** Tells screen readers that a turn has begun, and what it said once it is over: two announcements, not one per word. */
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
  return (
    <p aria-live="polite" className="sr-only">
      {said}
    </p>
  );
}

function ending(state: ConversationState, turnId: string): string {
  const turn = state.turns[turnId];
  if (turn?.reason === "error") return `The turn failed. ${turn.error?.message ?? ""}`;
  if (turn?.reason === "aborted") return "The turn was stopped.";
  const answer = state.messages.filter(
    (message) => message.turnId === turnId && message.role === "assistant",
  );
  return `The assistant answered: ${joinedText(answer.slice(-1)).slice(0, 600)}`;
}
