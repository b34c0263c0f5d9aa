import { useClient, useConversationList } from "@parley/client/react";
import type { ConversationMeta } from "@parley/wire";
import { useEffect, useMemo, useState } from "react";
import { usePendingDeletes } from "./conversation-actions.js";
import { familySource } from "./family-source.js";
import { type FamilyFound, readFamily } from "./read-family.js";

/** What was found, by each of its members: whoever switches to another branch sees the switcher at once. */
const found = new Map<string, FamilyFound>();

/** Conversations that this page has made, and that have had no branches since. */
const begun = new Set<string>();

/** Takes note of a conversation that this page makes: there is nothing to ask the server about its branches. */
export function beginFamily(conversationId: string): void {
  begun.add(conversationId);
}

/** The conversations that share a log with this one, as they are now. */
export function useFamily(conversationId: string, meta: ConversationMeta | undefined): FamilyFound {
  const client = useClient();
  const { state: list } = useConversationList();
  const pending = usePendingDeletes((each) => each.ids);
  const [family, setFamily] = useState(() => found.get(conversationId));
  const ids = useMemo(
    () => new Set([conversationId, ...(family?.members ?? []).map(({ id }) => id)]),
    [conversationId, family],
  );
  // A member that the list has no more, or a new one, is a reason to look again.
  const listed = list.conversations
    .filter(({ id, parentId }) => ids.has(id) || (parentId !== undefined && ids.has(parentId)))
    .map(({ id }) => id)
    .toSorted()
    .join(" ");
  const isReady = list.phase !== "loading";
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the metadata, only where it came from counts
  useEffect(() => {
    if (meta === undefined || !isReady) return;
    const isAlone = listed === "" || listed === meta.id;
    if (isAlone && begun.has(meta.id)) return;
    begun.delete(meta.id);
    let isLeft = false;
    readFamily(meta, familySource(client)).then(
      (read) => {
        for (const { id } of read.members) found.set(id, read);
        if (!isLeft) setFamily(read);
      },
      // The list's members are offered, as long as the server says no more.
      () => undefined,
    );
    return () => {
      isLeft = true;
    };
  }, [client, meta?.id, meta?.parentId, isReady, listed]);

  return useMemo(() => {
    const members = new Map((family?.members ?? []).map((each) => [each.id, each]));
    for (const each of list.conversations) members.set(each.id, each);
    if (meta !== undefined) members.set(meta.id, meta);
    return { members: [...members.values()], gone: new Set([...(family?.gone ?? []), ...pending]) };
  }, [family, list.conversations, meta, pending]);
}
