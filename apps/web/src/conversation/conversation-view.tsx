import { type ConversationState, ParleyRequestError } from "@parley/client";
import { fileParts } from "@parley/client/files";
import { useClient, useConversation } from "@parley/client/react";
import { CircleAlert, MessageCircleOff } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { useMayWrite } from "../app/access/access.js";
import { FindSlot } from "../app/layout/panels.js";
import { newId } from "../app/new-id.js";
import { usePageTitle } from "../app/page-title.js";
import { reportFailure } from "../app/report-failure.js";
import { conversationPath, navigate } from "../app/router.js";
import { Composer } from "../composer/composer.js";
import { composerId } from "../composer/focus-composer.js";
import { ReadOnlyNote } from "../composer/read-only-note.js";
import { branchPoints } from "../list/branches.js";
import type { FamilyFound } from "../list/read-family.js";
import { useFamily } from "../list/use-family.js";
import { addTemporaryBranch } from "../temporary/leave-temporary.js";
import { TemporaryBanner } from "../temporary/temporary-banner.js";
import { useTemporary } from "../temporary/use-temporary.js";
import { Button } from "../ui/button.js";
import { EmptyState } from "../ui/loading/empty-state.js";
import { Skeleton } from "../ui/loading/skeleton.js";
import { type ConversationActions, ConversationContext } from "./conversation-context.js";
import { ConversationHeader } from "./conversation-header.js";
import { errorWords } from "./parts/error-words.js";
import { Announcer } from "./transcript/announcer.js";
import { Transcript } from "./transcript/transcript.js";
import { useContextChanged } from "./use-context-changed.js";
import { useConversationCommands } from "./use-conversation-commands.js";

export interface ConversationViewProps {
  readonly conversationId: string;
  /** A place in the log to show. */
  readonly seq?: number | undefined;
  /** It does not exist yet, and no message of it is being sent. */
  readonly isNew?: boolean | undefined;
}

/** One conversation: its header, its messages and the composer. */
export function ConversationView({ conversationId, seq, isNew = false }: ConversationViewProps) {
  const { state, handle } = useConversation(conversationId);
  const mayWrite = useMayWrite();
  const family = useFamily(conversationId, state.meta);
  const actions = useActions(conversationId, handle, state, family);
  const temporary = useTemporary(state.meta, family.members);
  const { edit } = actions;
  const contextChanged = useContextChanged(state);
  const parentId = state.meta?.parentId;
  useConversationCommands(state, handle);
  usePageTitle(state.meta?.title);

  const editLast = useCallback(() => {
    const last = handle
      .getState()
      .messages.findLast(({ role, status }) => role === "user" && status === "committed");
    if (last !== undefined) edit(last.id);
  }, [handle, edit]);

  const missing = state.phase === "missing" && state.messages.length === 0;
  return (
    <ConversationContext.Provider value={actions}>
      <main className="flex min-w-0 flex-1 flex-col">
        <ConversationHeader
          meta={state.meta}
          status={state.status}
          contextSize={state.contextSize}
          contextWindow={state.contextWindow}
          contextChanged={contextChanged}
          parentId={parentId !== undefined && family.gone.has(parentId) ? undefined : parentId}
        />
        {temporary !== undefined && !missing && <TemporaryBanner ids={temporary} />}
        {!missing && <FindSlot conversationId={conversationId} />}
        {missing ? (
          <Missing />
        ) : state.phase === "failed" && state.messages.length === 0 ? (
          <Failed state={state} onRetry={() => handle.reload()} />
        ) : state.phase === "loading" && state.messages.length === 0 && !isNew ? (
          <Loading />
        ) : (
          <Transcript state={state} seq={seq} />
        )}
        {!missing && !mayWrite && <ReadOnlyNote />}
        {!missing && mayWrite && (
          <Composer
            conversationId={conversationId}
            handle={handle}
            running={state.activeTurn !== undefined || state.status === "active"}
            queue={state.queue}
            pending={state.pending}
            meta={state.meta}
            onEditLast={editLast}
          />
        )}
        <Announcer state={state} />
      </main>
    </ConversationContext.Provider>
  );
}

function useActions(
  conversationId: string,
  handle: ConversationActions["handle"],
  state: ConversationState,
  family: FamilyFound,
): ConversationActions {
  const client = useClient();
  const [editingId, setEditingId] = useState<string>();
  const { meta } = state;
  const branches = useMemo(
    () => branchPoints(family.members, conversationId, family.gone),
    [family, conversationId],
  );
  const branch = useCallback<ConversationActions["branch"]>(
    async (opening, text, { parts = fileParts(conversationId, opening), model } = {}) => {
      const firstSeq = opening[0]?.firstSeq;
      if (firstSeq === undefined) return;
      try {
        const { conversation } = await client.request("POST /conversations/:id/fork", {
          params: { id: conversationId },
          body: {
            atSeq: firstSeq - 1,
            id: newId(),
            message: text,
            messageId: newId(),
            ...(parts.length > 0 ? { parts } : {}),
            ...(model === undefined ? {} : { model }),
          },
        });
        if (model !== undefined) {
          // For the following turns, too.
          const params = { id: conversation.id };
          await client.request("PUT /conversations/:id/model", { params, body: { model } });
        }
        setEditingId(undefined);
        if (conversation.temporary) addTemporaryBranch(conversation.id);
        navigate(conversationPath(conversation.id));
      } catch (error) {
        reportFailure("Not sent", error);
        if (!(error instanceof ParleyRequestError)) throw error;
      }
    },
    [client, conversationId],
  );
  // A fork may rely on a compaction of the conversation that it came from, which its own data does not contain: undone
  // summaries are known only if they were written here, after the place of the fork.
  const undoneBehind =
    meta !== undefined && meta.compactedFrom === undefined ? (meta.forkedAtSeq ?? 0) : undefined;
  return useMemo(
    () => ({
      conversationId,
      handle,
      editingId,
      edit: setEditingId,
      branch,
      branches,
      undoneBehind,
    }),
    [conversationId, handle, editingId, branch, branches, undoneBehind],
  );
}

function Missing() {
  return (
    <div className="flex flex-1 items-center justify-center">
      <EmptyState
        icon={<MessageCircleOff />}
        title="There is no such conversation"
        actions={
          <Button id={composerId} tone="primary" onClick={() => navigate("/")}>
            Start a new one
          </Button>
        }
      >
        It was deleted, the address is wrong, or it belongs to another key.
      </EmptyState>
    </div>
  );
}

function Failed({ state, onRetry }: { readonly state: ConversationState; readonly onRetry: () => void }) {
  const { title, advice } = errorWords(state.error?.code);
  return (
    <div role="alert" className="flex flex-1 items-center justify-center">
      <EmptyState
        icon={<CircleAlert />}
        title="The conversation could not be loaded"
        actions={<Button onClick={onRetry}>Try again</Button>}
      >
        {title}. {advice}
      </EmptyState>
    </div>
  );
}

function Loading() {
  return (
    <div
      className="mx-auto w-full max-w-[46rem] flex-1 space-y-8 overflow-hidden px-6 pt-16"
      aria-busy="true"
    >
      <span className="sr-only" role="status">
        Loading the conversation
      </span>
      {["w-2/5", "w-1/3"].map((width) => (
        <div key={width} className="space-y-3">
          <Skeleton className={`ml-auto h-10 rounded-xl ${width}`} />
          <Skeleton className="h-4 w-11/12" />
          <Skeleton className="h-4 w-4/5" />
          <Skeleton className="h-4 w-2/3" />
        </div>
      ))}
    </div>
  );
}
