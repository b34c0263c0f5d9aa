import type { AddInputs } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { staleFence } from "../refusals.js";
import { checkIsTurn } from "../turns/commit-step.js";
import { checkHeld, requireHead } from "../turns/head.js";
import { touchStatements } from "../turns/open-turn.js";
import { insertRequests } from "./request-row.js";

/** Writes requests of running calls, under the lock and the fence of the node that runs them. */
export function addInputs(store: StoreContext, owner: string, input: AddInputs): Promise<void> {
  const { conversationId, turnId, fence, inputs } = input;
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, conversationId);
    checkHeld(head, turnId, fence);
    checkIsTurn(head, turnId);
    if (head.waiting) throw staleFence(conversationId, turnId);
    if (inputs.length === 0) return;
    await connection.batch([...insertRequests(store, head, turnId, inputs), ...touchStatements(head)]);
  });
}
