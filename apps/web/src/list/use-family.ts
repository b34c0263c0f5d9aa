import { useClient, useConversationList } from "@parley/client/react";
import type { ConversationMeta } from "@parley/wire";
import { useEffect, useMemo, useState } from "react";
import { usePendingDeletes } from "./conversation-actions.js";
import { familySource } from "./family-source.js";
import { type FamilyFound, readFamily } from "./read-family.js";

/** Families found, by each of their members: after a switch to another branch the switcher is shown at once. */
const found = new Map<string, FamilyFound>();

/** Conversations that this page has created, and that have had no branches since. */
const begun = new Set<string>();

/** Records a conversation that this page creates: no request for its branches is needed. */
export function beginFamily(conversationId: string): void {
  begun.add(conversationId);
}

/** Returns the conversations that share a log with this one, as they are now. */
export function useFamily(conversationId: string, meta: ConversationMeta | undefined): FamilyFound {
  const client = useClient();
  const { state: list } = useConversationList();
  const pending = usePendingDeletes((each) => each.ids);
  const [family, setFamily] = useState(() => found.get(conversationId));
  const ids = useMemo(
    () => new Set([conversationId, ...(family?.members ?? []).map(({ id }) => id)]),
    [conversationId, family],
  );
  // A member that is no longer in the list, or a new one, is a reason to read the family again.
  const listed = list.conversations
    .filter(({ id, parentId }) => ids.has(id) || (parentId !== undefined && ids.has(parentId)))
    .map(({ id }) => id)
    .toSorted()
    .join(" ");
  const isReady = list.phase !== "loading";
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the metadata, only its parent matters
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
      // If the request fails, the members in the list are offered.
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
