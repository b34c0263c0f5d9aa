import type { OwnerRuntime } from "@parley/core/runtime";
import type { PendingRequest } from "@parley/wire";

/** Reads all unanswered requests of a turn, page by page. */
export async function pendingRequests(
  me: OwnerRuntime,
  { conversationId, turnId }: { readonly conversationId: string; readonly turnId: string },
): Promise<PendingRequest[]> {
  const found: PendingRequest[] = [];
  let after: string | undefined;
  do {
    const page = await me.input.pending({ conversationId, after });
    found.push(...page.pending.filter((request) => request.turnId === turnId));
    after = page.nextAfter;
  } while (after !== undefined);
  return found;
}
