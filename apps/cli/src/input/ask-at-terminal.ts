import type { ParleyClient } from "@parley/client";
import type { InputResponseEntry, PendingRequest, RespondRequest } from "@parley/wire";
import { openKeyboard } from "../chat/keyboard.js";
import type { Io } from "../io.js";
import type { Key } from "../terminal/line-editor.js";
import { viewLine } from "../terminal/line-view.js";
import { Screen } from "../terminal/screen.js";
import { type InputPrompt, openPrompt, pressPrompt, promptHints, promptRows } from "./input-prompt.js";
import { viewRequest } from "./request-view.js";

/** The outcome of a prompt at the terminal. */
export type Asked =
  | { readonly outcome: "responded"; readonly response: RespondRequest }
  /** Another client decided first. */
  | { readonly outcome: "decided"; readonly response: InputResponseEntry }
  | { readonly outcome: "later" }
  | { readonly outcome: "interrupted" };

/**
 * Asks the user at the terminal, on standard error, about a request. A decision from elsewhere closes the prompt.
 * `problem` says why an earlier response was refused.
 */
export async function askAtTerminal(
  client: ParleyClient,
  request: PendingRequest,
  io: Io,
  options: { readonly count: number; readonly cursor: string | undefined; readonly problem?: string },
): Promise<Asked> {
  const screen = new Screen(process.stderr);
  const watching = new AbortController();
  let prompt: InputPrompt = { ...openPrompt(request), notice: options.problem ?? "" };
  const draw = () => screen.show(areaOf(prompt, screen, io, options.count));
  try {
    return await new Promise<Asked>((resolve, reject) => {
      const press = (text: string | undefined, key: Key) => {
        const { prompt: next, action } = pressPrompt(prompt, text, key);
        prompt = next;
        if (action?.type === "respond") resolve({ outcome: "responded", response: action.response });
        else if (action?.type === "later" || action?.type === "end") resolve({ outcome: "later" });
        else if (action?.type === "interrupt") resolve({ outcome: "interrupted" });
        else if (action?.type === "redraw") screen.clear();
        else if (action?.type === "show") screen.print(viewRequest(request, viewOf(screen, io)).lines);
        else if (action?.type === "command") prompt = { ...prompt, notice: `${action.text} is for a chat.` };
        draw();
      };
      const keyboard = openKeyboard(process.stdin, process.stderr, press);
      watching.signal.addEventListener("abort", () => keyboard.close(), { once: true });
      draw();
      decisionElsewhere(client, request, options.cursor, watching.signal).then((response) => {
        if (response !== undefined) resolve({ outcome: "decided", response });
      }, reject);
    });
  } finally {
    watching.abort();
    screen.close();
  }
}

function viewOf(screen: Screen, { errorStyle: style }: Io) {
  return { columns: Math.max(20, screen.columns - 1), style, now: Date.now() };
}

function areaOf(prompt: InputPrompt, screen: Screen, io: Io, count: number) {
  const view = viewOf(screen, io);
  const { text, cursor } = prompt.line;
  return {
    rows: promptRows(prompt, { ...view, height: screen.height, count }),
    line: viewLine(text, cursor, view.style.cyan("› "), 2, view.columns),
    below: [view.style.dim(promptHints(prompt))],
  };
}

/** Resolves with the response that another client gives to a request; with undefined when the signal is aborted. */
async function decisionElsewhere(
  client: ParleyClient,
  { conversationId, requestId }: PendingRequest,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<InputResponseEntry | undefined> {
  const frames = client.follow(conversationId, { signal, ...(cursor === undefined ? {} : { cursor }) });
  for await (const frame of frames) {
    if (frame.type === "chat.delta" && frame.event.type === "input-response") {
      if (frame.event.input.requestId === requestId) return frame.event.input;
    }
    if (frame.type !== "chat.chunks") continue;
    for (const { chunk } of frame.chunks) {
      const input = chunk.type === "system" ? chunk.input : undefined;
      if (input?.type === "input-response" && input.requestId === requestId) return input;
    }
  }
  return undefined;
}
