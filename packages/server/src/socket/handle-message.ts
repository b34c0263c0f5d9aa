import { ParleyError } from "@parley/core";
import { toParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { Receipt } from "@parley/core/runtime";
import { parseCursor } from "@parley/fold";
import type { KeyScope, WsChatSend, WsClientMessage } from "@parley/wire";
import { checkScope } from "../auth/caller.js";
import { invalidFields } from "../http/request-refusal.js";
import { validate } from "../http/validate.js";
import { respondAs, respondScopes } from "../routes/input.js";
import { clientMessages } from "../schemas/socket.js";
import { describeFailure } from "../telemetry/logging.js";
import type { Connection } from "./connection.js";
import { namesIn, typeIn } from "./message-names.js";

type MessageOf<Type extends WsClientMessage["type"]> = WsClientMessage & { readonly type: Type };

type Handlers = {
  readonly [Type in WsClientMessage["type"]]: {
    readonly scope: KeyScope | readonly KeyScope[];
    /** Refused while the node shuts down. */
    readonly isWork?: boolean;
    handle(connection: Connection, message: MessageOf<Type>): void | Promise<void>;
  };
};

const handlers: Handlers = {
  "chat.send": { scope: "write", isWork: true, handle: sendMessage },
  "chat.subscribe": {
    scope: "read",
    handle(connection, { conversationId, cursor }) {
      if (!connection.chats.has(conversationId)) checkCapacity(connection);
      // Already followed: sent again from its beginning, a turn would be folded twice.
      else if (cursor === undefined) return;
      connection.chats.join(conversationId, cursor);
    },
  },
  "chat.unsubscribe": {
    scope: "read",
    handle: (connection, { conversationId }) => connection.chats.leave(conversationId),
  },
  "chat.queue": {
    scope: "write",
    isWork: true,
    handle: (connection, { type: _, text, ...input }) =>
      admitAndFollow(connection, {
        named: input.conversationId,
        // Admitting the message matters more than following it.
        mayFollow: hasCapacity(connection),
        admit: () => connection.me.queue.add({ ...input, message: text }),
      }),
  },
  "chat.stop": {
    scope: "write",
    async handle(connection, { conversationId }) {
      await connection.me.stop(conversationId);
    },
  },
  "chat.respond": {
    scope: respondScopes,
    async handle(connection, { type: _, conversationId, requestId, ...answer }) {
      const { caller, me } = connection;
      const responded = await respondAs(caller, me, { conversationId, requestId }, answer, "socket");
      connection.send({ type: "chat.responded", ...responded });
    },
  },
  subscribe: {
    scope: "read",
    handle(connection, { surfaceId, conversationId }) {
      if (!connection.surfaces.has(conversationId)) checkCapacity(connection);
      return connection.surfaces.subscribe(surfaceId, conversationId);
    },
  },
  unsubscribe: {
    scope: "read",
    handle: (connection, { surfaceId, conversationId }) =>
      connection.surfaces.unsubscribe(surfaceId, conversationId),
  },
  ping: { scope: "read", handle: (connection) => connection.send({ type: "pong" }) },
};

/** Handles a client's message, or reports the refusal. Never throws for what a client sent. */
export async function handleMessage(connection: Connection, value: unknown): Promise<void> {
  const type = typeIn(value);
  try {
    if (type === undefined || !isKnown(type)) {
      throw invalidFields([{ path: "type", message: `one of ${Object.keys(handlers).join(", ")}` }]);
    }
    await perform(connection, type, value);
  } catch (thrown) {
    const error = toParleyError(thrown);
    const { app, caller } = connection;
    const names = namesIn(value);
    if (error.code === "internal") {
      app.logger.error(
        { owner: caller.owner, type, ...names, ...describeFailure(thrown) },
        "unexpected failure",
      );
    }
    if (type !== "subscribe" && type !== "unsubscribe") connection.refuse(error, names);
    else {
      const { messageId: _, requestId: _request, ...about } = names;
      connection.send({ type: "error", ...about, code: error.code, message: error.message });
    }
  }
}

function isKnown(type: string): type is WsClientMessage["type"] {
  return Object.hasOwn(handlers, type);
}

async function perform<Type extends WsClientMessage["type"]>(
  connection: Connection,
  type: Type,
  value: unknown,
): Promise<void> {
  const { scope, isWork, handle } = handlers[type];
  checkScope(connection.caller, scope);
  if (isWork) connection.app.checkDraining();
  const schema: { safeParse(value: unknown): unknown } = clientMessages[type];
  await handle(connection, validate(schema as Parameters<typeof validate<MessageOf<Type>>>[0], value));
}

function hasCapacity({ chats, surfaces, app }: Connection): boolean {
  return chats.size + surfaces.size < app.limits.subscriptionsPerSocket;
}

function checkCapacity(connection: Connection): void {
  if (hasCapacity(connection)) return;
  const { subscriptionsPerSocket } = connection.app.limits;
  throw new ParleyError(
    "limit_exceeded",
    `This socket follows ${subscriptionsPerSocket} things already (subscriptionsPerSocket)`,
  );
}

async function sendMessage(
  connection: Connection,
  { type: _, cursor, ...request }: WsChatSend,
): Promise<void> {
  const named = request.conversationId;
  if (named === undefined || !connection.chats.has(named)) checkCapacity(connection);
  // Before the message is durable: behind that, nothing may be refused any more.
  if (cursor !== undefined && parseCursor(cursor) === undefined) {
    throw invalidFields([{ path: "cursor", message: "not a cursor of this server" }]);
  }
  const admit = () => connection.me.send(request);
  await admitAndFollow(connection, { named, cursor, mayFollow: true, admit });
}

/**
 * Admits a message, and subscribes the sender. A conversation that may exist is joined before the message is admitted,
 * so that the sender receives the turn from its first event, however fast it is. One that turns out not to exist yet
 * is joined from its beginning once the message has created it. A sender that names a cursor is subscribed once the
 * message is admitted: nothing behind the cursor is left out.
 */
async function admitAndFollow(
  connection: Connection,
  message: {
    readonly named: string | undefined;
    readonly cursor?: string | undefined;
    readonly mayFollow: boolean;
    readonly admit: () => Promise<Receipt>;
  },
): Promise<void> {
  const { chats } = connection;
  const { named, mayFollow, cursor } = message;
  let sent: "not yet" | "admitted" | "refused" = "not yet";
  let isMissing = false;
  let hasJoined = false;
  const joinFromStart = (conversationId: string) => chats.join(conversationId, "0");
  if (mayFollow && cursor === undefined && named !== undefined && !chats.has(named)) {
    hasJoined = true;
    chats.join(named, undefined, (error) => {
      if (error?.code !== "conversation_not_found") {
        if (error !== undefined) connection.refuse(error, { conversationId: named });
      } else if (sent === "admitted") joinFromStart(named);
      else isMissing = true;
    });
  }
  try {
    const { conversationId, messageId, outcome, turnId } = await message.admit();
    sent = "admitted";
    if (cursor !== undefined || named === undefined) {
      if (mayFollow && !chats.has(conversationId)) chats.join(conversationId, cursor ?? "0");
    } else if (isMissing) joinFromStart(conversationId);
    connection.send({
      type: "chat.receipt",
      conversationId,
      messageId,
      outcome,
      ...omitUndefined({ turnId }),
    });
  } catch (thrown) {
    sent = "refused";
    const error = toParleyError(thrown);
    // A client that is refused because a turn runs can watch that turn.
    if (hasJoined && named !== undefined && error.code !== "turn_active") chats.leave(named);
    throw error;
  }
}
