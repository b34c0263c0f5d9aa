import { omitUndefined } from "@parley/core/messages";
import type { GrantRecord, InputRecord, LogStore, RespondInput } from "@parley/core/ports";
import type { GrantScope, InputActor } from "@parley/wire";
import type { Statement } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { originalJson, originalText, storedJson, storedText } from "../../stored-text.js";
import { type Head, nowMs } from "../turns/head.js";

/** Returns the statement that writes the standing approval of a response, if it gives one. */
export function insertGrant(head: Head, request: InputRecord, input: RespondInput): Statement | undefined {
  const { response, grantId } = input;
  if (request.kind !== "approval" || response.decision !== "allow") return undefined;
  const scope: GrantScope | undefined =
    response.scope ?? (request.remember ? { in: "conversation" } : undefined);
  if (scope === undefined) return undefined;
  return {
    name: "insert_grant",
    text: `INSERT INTO parley.input_grant
        (created_at, log, owner, id, tool_name, tool_hash, request_id, scope, actor)
      VALUES (${nowMs}, $1::int8, $2, $3, $4, $5, $6, $7::json, $8::json)`,
    values: [
      scope.in === "conversation" ? head.log : null,
      head.owner,
      storedText(grantId),
      storedText(request.toolName),
      storedText(request.toolHash),
      storedText(request.requestId),
      storedJson(scope),
      response.by === undefined ? null : storedJson(response.by),
    ],
  };
}

export async function grants(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["grants"]>[0],
): Promise<GrantRecord[]> {
  const { toolName, conversationId } = query;
  const rows = await store.database.query({
    name: "list_grants",
    text: `SELECT g.id, g.tool_name, g.tool_hash, g.request_id, g.scope::text AS scope, g.actor::text AS actor,
        date_part('epoch', g.created_at) * 1000 AS created_ms, c.id AS conversation_id
      FROM parley.input_grant g LEFT JOIN parley.conversation c ON c.log = g.log
      WHERE g.owner = $1 AND ($2::text IS NULL OR g.tool_name = $2)
        AND ($3::text IS NULL OR g.log IS NULL OR (c.id = $3 AND c.status <> 'removed'))
      ORDER BY g.created_at DESC, g.id DESC LIMIT 1000`,
    values: [
      owner,
      toolName === undefined ? null : storedText(toolName),
      conversationId === undefined ? null : storedText(conversationId),
    ],
  });
  return rows.map((row) => {
    const by = typeof row.actor === "string" ? (originalJson(row.actor) as InputActor) : undefined;
    const of = typeof row.conversation_id === "string" ? row.conversation_id : undefined;
    return {
      id: originalText(String(row.id)),
      toolName: originalText(String(row.tool_name)),
      toolHash: originalText(String(row.tool_hash)),
      scope: originalJson(String(row.scope)) as GrantScope,
      createdAt: Math.round(Number(row.created_ms)),
      requestId: originalText(String(row.request_id)),
      ...omitUndefined({ conversationId: of, by }),
    };
  });
}

export async function removeGrant(store: StoreContext, owner: string, id: string): Promise<boolean> {
  const rows = await store.database.query({
    name: "remove_grant",
    text: "DELETE FROM parley.input_grant WHERE owner = $1 AND id = $2 RETURNING id",
    values: [owner, storedText(id)],
  });
  return rows.length > 0;
}
