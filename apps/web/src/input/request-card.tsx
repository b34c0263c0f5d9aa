import { Cable, MessageCircleQuestionMark, ShieldQuestionMark } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { errorWords } from "../conversation/parts/error-words.js";
import { fullTime } from "../list/relative-time.js";
import { TimeAgo } from "../list/time-ago.js";
import { cx } from "../ui/cx.js";
import { Spinner } from "../ui/loading/spinner.js";
import { ApprovalBody } from "./approval-body.js";
import { DataText } from "./data-text.js";
import { decisionWords, isModelsQuestion, requestTitle } from "./decision-words.js";
import { OutputBody } from "./output-body.js";
import { QuestionBody } from "./question-body.js";
import type { RequestDetails } from "./request-details.js";
import { type OpenRequest, useOpenRequest } from "./use-request.js";

export interface RequestCardProps {
  readonly request: RequestDetails;
  /** Called when a decision of this card is in force and the focus, which was in it, has to move elsewhere. */
  readonly onDecided?: ((requestId: string) => void) | undefined;
  /** Content above the title, such as a link to the conversation. */
  readonly above?: ReactNode;
  /** The element of its title, by where the card is. */
  readonly heading?: "h2" | "h3";
}

/** A waiting call: its details, and the ways to answer it. */
export function RequestCard({ request, onDecided, above, heading: Heading = "h2" }: RequestCardProps) {
  const id = useId();
  const card = useRef<HTMLElement>(null);
  const open = useOpenRequest(request, () => {
    // Its buttons are about to be removed, and the focus with them.
    const hadFocus = card.current?.contains(document.activeElement) ?? false;
    return () => {
      if (hadFocus) onDecided?.(request.requestId);
    };
  });
  const { own, lacks, isSending } = open;
  const { kind, toolName, reason, requestedAt, expiresAt } = request;
  const Body = kind === "question" ? QuestionBody : kind === "tool-output" ? OutputBody : ApprovalBody;
  return (
    <section
      ref={card}
      data-request={request.requestId}
      aria-labelledby={id}
      tabIndex={-1}
      onKeyDown={pressLetter}
      className="border-l-[3px] border-l-warn px-3 py-3 outline-offset-[-2px] sm:px-4"
    >
      {above}
      <header className="flex items-start gap-2.5">
        <span aria-hidden className="mt-0.5 text-warn [&_svg]:size-[1.125rem]">
          {kind === "question" ? (
            <MessageCircleQuestionMark />
          ) : kind === "tool-output" ? (
            <Cable />
          ) : (
            <ShieldQuestionMark />
          )}
        </span>
        <div className="min-w-0 flex-1">
          <Heading id={id} className="text-sm font-semibold">
            {requestTitle(kind, toolName)}
            {!isModelsQuestion(kind, toolName) && (
              <>
                {": "}
                <span className="font-mono text-[0.8125rem] break-words">
                  <DataText text={toolName.slice(0, 200)} />
                </span>
              </>
            )}
          </Heading>
          <p className="text-xs text-faint">
            {requestedAt !== undefined && (
              <>
                {"Asked "}
                <TimeAgo at={requestedAt} />
              </>
            )}
            {expiresAt !== undefined && ` · denied by itself at ${fullTime(expiresAt)}`}
          </p>
        </div>
        {isSending && <Spinner label="Sending the decision" className="text-faint" />}
      </header>
      {reason !== undefined && reason !== "" && (
        <p
          dir="auto"
          className={cx(
            "isolate-text mt-2 whitespace-pre-wrap",
            kind === "question" ? "text-base" : "text-sm text-soft",
          )}
        >
          <DataText text={reason.slice(0, 4_000)} />
        </p>
      )}
      {own?.status === "recorded" && own.response !== undefined ? (
        <p className="mt-3 text-sm font-medium">{decisionWords(own.response, kind).outcome}.</p>
      ) : (
        <div className="mt-3">
          <Body open={open} />
        </div>
      )}
      {lacks !== undefined && (
        <p className="mt-3 rounded-md bg-sunken px-3 py-2 text-sm text-soft">
          {`Your key cannot decide this: it lacks the scope "${lacks}". Log in with a key that has it, or let someone else decide.`}
        </p>
      )}
      <Outcome own={own} />
    </section>
  );
}

/** A failed attempt to answer, or one that came too late. */
function Outcome({ own }: { readonly own: OpenRequest["own"] }) {
  if (own?.status === "late" && own.response !== undefined) {
    return (
      <p role="alert" className="mt-3 text-sm text-danger">
        {`Somebody else decided first: ${decisionWords(own.response).outcome.toLowerCase()}.`}
      </p>
    );
  }
  if (own?.status !== "failed") return null;
  const { code, message, retryable } = own.error ?? { code: undefined, message: "", retryable: false };
  const { title } = errorWords(code);
  // The server gives the reason why a value was refused; for other errors, the page has its own words.
  const text =
    code === "invalid_request" ? message : `${title}.${retryable ? " Try again: it counts once." : ""}`;
  return (
    <p role="alert" className="isolate-text mt-3 text-sm whitespace-pre-wrap text-danger">
      {`Not decided. ${text.slice(0, 1_000)}`}
    </p>
  );
}

/** Presses the button of this card whose letter is typed; Esc leaves a form. */
function pressLetter(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget, key } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = target instanceof HTMLElement && target.closest("input, textarea, select") !== null;
  const name = key === "Escape" ? "escape" : isTyping || key.length !== 1 ? undefined : key.toLowerCase();
  if (name === undefined || !/^[a-z]+$/.test(name)) return;
  const button = currentTarget.querySelector<HTMLButtonElement>(`button[data-key="${name}"]:not(:disabled)`);
  if (button === null) return;
  event.preventDefault();
  event.stopPropagation();
  button.click();
}
