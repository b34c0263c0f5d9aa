import type { GrantInfo } from "@parley/wire";
import { resolveAmong, shortIds } from "../../resolve-id.js";
import { dataLine, escapeInvisible } from "../../terminal/data-text.js";
import { ago } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

/** Lists standing approvals. */
export async function listGrants(options: { readonly json?: boolean }, context: VerbContext): Promise<void> {
  const { io } = context;
  const client = await context.client();
  const { grants } = await client.request("GET /grants", { signal: context.signal });
  if (options.json) return io.json(grants);
  if (grants.length === 0) return io.note("There is no standing approval: every call that asks, asks.");
  const ids = shortIds(grants.map(({ id }) => id));
  const { style } = io;
  const now = Date.now();
  io.lines(
    table<GrantInfo>(
      grants,
      [
        { title: "id", text: ({ id }) => ids.get(id) ?? id, paint: (text) => style.cyan(text) },
        {
          title: "tool",
          text: ({ toolName }) => escapeInvisible(toolName),
          paint: (text) => style.bold(text),
        },
        { title: "in", text: ({ conversationId }) => conversationId ?? "all conversations" },
        {
          title: "arguments",
          text: ({ scope }) => (scope.where === undefined ? "any" : dataLine(JSON.stringify(scope.where))),
          shrink: true,
        },
        { title: "by", text: ({ by }) => by?.label ?? by?.owner ?? "" },
        { title: "since", text: ({ createdAt }) => ago(createdAt, now), paint: (text) => style.dim(text) },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
}

/** Ends a standing approval: the next call asks again. */
export async function removeGrant(word: string, _options: object, context: VerbContext): Promise<void> {
  const client = await context.client();
  const { grants } = await client.request("GET /grants", { signal: context.signal });
  const ids = grants.map((grant) => grant.id);
  const id = resolveAmong(word, ids, "standing approval");
  await client.request("DELETE /grants/:id", { params: { id }, signal: context.signal });
  const { toolName = "" } = grants.find((grant) => grant.id === id) ?? {};
  context.io.note(`The next call of ${escapeInvisible(toolName)} asks again.`);
}
