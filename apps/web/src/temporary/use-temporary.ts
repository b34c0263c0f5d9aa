import { useClient } from "@parley/client/react";
import type { ConversationMeta } from "@parley/wire";
import { useEffect } from "react";
import { useRoute } from "../app/router.js";
import { enterTemporary, followRoute, forgetTemporary, holdTemporary } from "./leave-temporary.js";

/** Deletes a temporary conversation when the page opens another one. */
export function useLeavingTemporary(): void {
  const client = useClient();
  const route = useRoute();
  useEffect(() => followRoute(client, route), [client, route]);
}

/** Marks the conversation that is shown as the one to delete, if it is temporary. Returns the ids of its branches. */
export function useTemporary(
  meta: ConversationMeta | undefined,
  members: readonly ConversationMeta[],
): readonly string[] | undefined {
  const client = useClient();
  const id = meta?.id;
  const isTemporary = meta?.temporary === true;
  const branches = members.filter(({ temporary }) => temporary === true).map((each) => each.id);
  const branchList = branches.join(" ");
  useEffect(() => {
    if (id === undefined) return;
    if (isTemporary) enterTemporary(client, id, branchList === "" ? [] : branchList.split(" "));
    else forgetTemporary([id]);
  }, [client, id, isTemporary, branchList]);
  useEffect(() => {
    return id !== undefined && isTemporary ? holdTemporary(id) : undefined;
  }, [id, isTemporary]);
  return isTemporary ? branches : undefined;
}
