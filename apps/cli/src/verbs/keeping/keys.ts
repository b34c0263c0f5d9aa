import type { ApiKeyInfo, KeyScope } from "@parley/wire";
import { CliError, usageError } from "../../cli-error.js";
import { resolveAmong } from "../../resolve-id.js";
import { ago } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

const known: readonly KeyScope[] = ["read", "write", "approve", "admin"];

export interface CreateKeyOptions {
  readonly scopes?: string;
  readonly scope?: string;
  readonly json?: boolean;
}

/** Makes a key and shows its secret, once. */
export async function createKey(options: CreateKeyOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  const scopes = (options.scopes ?? options.scope)?.split(",").map((scope) => scope.trim());
  const wrong = scopes?.find((scope) => !known.includes(scope as KeyScope));
  if (wrong !== undefined) throw usageError(`"${wrong}" is not a scope.`, `There are ${known.join(", ")}.`);
  const client = await context.client();
  const before = await client.request("GET /keys");
  const isFirst = before.keys.length === 0;
  // A first key without the scope admin could not make a second one.
  const given = (scopes ?? (isFirst ? known : ["read", "write"])) as KeyScope[];
  const made = await client.request("POST /keys", { body: { owner: context.globals.owner, scopes: given } });
  if (options.json) return io.json(made);
  io.line(made.secret);
  io.note(
    `Key ${made.key.id} for the owner "${made.key.owner}" (${made.key.scopes.join(", ")}). The secret is shown only now.`,
  );
  if (!isFirst) return;
  io.note("It is the first key: from now on the server asks everyone for one. Put it into PARLEY_API_KEY.");
  if (!given.includes("admin"))
    io.note("It may not make further keys; without a server, `parley keys create` still can.");
}

/**
 * Makes a key with all scopes on the store itself, for someone who has lost every key that may make another. A user
 * who can open the store can read everything in it anyway, so nothing is asked for.
 */
export async function recoverKey(options: { readonly json?: boolean }, context: VerbContext): Promise<void> {
  const { io, globals } = context;
  const url = globals.url ?? process.env.PARLEY_URL;
  if (url !== undefined && url !== "") {
    throw usageError(
      `A key is recovered on the store itself, not through the server at ${url}.`,
      "Leave out --url and PARLEY_URL, and run it where the store is: on the server's machine, or with --store postgres://...",
    );
  }
  const { client, place } = await context.connect({ direct: true });
  // A wrong path or address leads to an empty store, whose key opens nothing.
  if ((await client.request("GET /keys")).keys.length === 0) {
    throw new CliError(`There is no key in ${place}, so none was lost.`, {
      advice: "Name the store of the server with --store. `parley keys create` makes a first key.",
    });
  }
  const made = await client.request("POST /keys", { body: { owner: globals.owner, scopes: [...known] } });
  if (options.json) return io.json(made);
  io.line(made.secret);
  io.note(
    `Key ${made.key.id} for the owner "${made.key.owner}", with all scopes, in ${place}. The secret is shown only now. ` +
      "A running server accepts it within seconds. Revoke keys that you no longer trust: `parley keys ls`, `parley keys rm`.",
  );
}

/** Lists keys, without their secrets. */
export async function listKeys(options: { readonly json?: boolean }, context: VerbContext): Promise<void> {
  const { io } = context;
  const client = await context.client();
  const { keys } = await client.request("GET /keys");
  if (options.json) return io.json(keys);
  if (keys.length === 0)
    return io.note("There are no keys: the server serves this machine only, and asks for none.");
  const { style } = io;
  const now = Date.now();
  io.lines(
    table<ApiKeyInfo>(
      keys,
      [
        { title: "id", text: ({ id }) => id, paint: (text) => style.cyan(text) },
        { title: "secret", text: ({ prefix }) => `${prefix}…` },
        { title: "owner", text: ({ owner }) => owner, shrink: true },
        { title: "scopes", text: ({ scopes }) => scopes.join(", ") },
        { title: "made", text: ({ createdAt }) => ago(createdAt, now) },
        { title: "used", text: ({ lastUsedAt }) => ago(lastUsedAt, now) },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
}

async function resolveKey(word: string, context: VerbContext): Promise<{ id: string; isLast: boolean }> {
  const client = await context.client();
  const { keys } = await client.request("GET /keys");
  const ids = keys.map((key) => key.id);
  return { id: resolveAmong(word, ids, "key"), isLast: ids.length === 1 };
}

/** Ends the logins that pages have made with a key. */
export async function endLogins(word: string, _options: object, context: VerbContext): Promise<void> {
  const client = await context.client();
  const { id } = await resolveKey(word, context);
  const { ended } = await client.request("DELETE /keys/:id/logins", { params: { id } });
  context.io.note(`Ended ${ended} ${ended === 1 ? "login" : "logins"} of ${id}. The key itself still works.`);
}

/** Revokes a key. */
export async function removeKey(word: string, _options: object, context: VerbContext): Promise<void> {
  const client = await context.client();
  const { id, isLast } = await resolveKey(word, context);
  await client.request("DELETE /keys/:id", { params: { id } });
  const last = isLast ? " It was the last one: the server now serves this machine only, without keys." : "";
  context.io.note(`Revoked ${id}.${last}`);
}
