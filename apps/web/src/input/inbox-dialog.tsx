import { useInbox } from "@parley/client/react";
import { ArrowRight, Inbox } from "lucide-react";
import { useRef } from "react";
import type { OverlayProps } from "../app/layout/panel-props.js";
import { conversationPath, Link } from "../app/router.js";
import { errorWords } from "../conversation/parts/error-words.js";
import { Button } from "../ui/button.js";
import { EmptyState } from "../ui/loading/empty-state.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { Dialog } from "../ui/overlay/dialog.js";
import { DataText } from "./data-text.js";
import { RequestCard } from "./request-card.js";
import { detailsOfPending } from "./request-details.js";
import { focusOtherRequest } from "./request-part.js";

/** All requests that wait for a person, from all conversations, to be decided here. */
export function InboxDialog({ open, onOpenChange }: OverlayProps) {
  const { state, inbox } = useInbox();
  const { requests, phase, hasMore, error } = state;
  const list = useRef<HTMLDivElement>(null);
  const focusNext = (requestId: string) => {
    if (!focusOtherRequest(list.current, requestId)) list.current?.focus();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Inbox"
      description="Calls and questions that wait for a decision, oldest first."
      size="large"
      initialFocus={list}
    >
      <div ref={list} tabIndex={-1} className="space-y-4 outline-none" aria-busy={phase === "loading"}>
        <p aria-live="polite" className="sr-only">
          {phase === "ready" ? waitingText(requests.length) : ""}
        </p>
        {phase === "loading" && <Skeleton className="h-24 w-full" />}
        {phase === "failed" && (
          <div role="alert" className="space-y-2 text-sm text-soft">
            <p>{`The inbox could not be loaded. ${errorWords(error?.code).title}.`}</p>
            <Button size="small" onClick={() => void inbox.refresh()}>
              Try again
            </Button>
          </div>
        )}
        {phase === "ready" && requests.length === 0 && (
          <EmptyState icon={<Inbox />} title="Nothing waits for you" />
        )}
        {requests.map((request) => (
          <div
            key={`${request.conversationId} ${request.requestId}`}
            className="overflow-hidden rounded-lg border border-line bg-canvas"
          >
            <RequestCard
              request={detailsOfPending(request)}
              heading="h3"
              onDecided={focusNext}
              above={
                <Link
                  to={conversationPath(request.conversationId)}
                  onClick={() => onOpenChange(false)}
                  className="mb-2 flex w-fit max-w-full items-center gap-1.5 rounded-sm text-xs font-medium text-accent hover:underline"
                >
                  <span className="truncate">
                    <DataText text={request.title === "" ? "Untitled" : request.title.slice(0, 200)} />
                  </span>
                  <ArrowRight aria-hidden className="size-3.5 shrink-0" />
                  <span className="sr-only">(open the conversation)</span>
                </Link>
              }
            />
          </div>
        ))}
        {hasMore && (
          <p className="text-xs text-faint">There are more: they are listed when these are decided.</p>
        )}
      </div>
    </Dialog>
  );
}

function waitingText(count: number): string {
  if (count === 0) return "Nothing waits for you";
  return count === 1 ? "1 request waits" : `${count} requests wait`;
}
