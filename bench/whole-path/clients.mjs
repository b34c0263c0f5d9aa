// Clients of the servers of this folder: each sends one request and receives every delta, then the end.
import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: 2_000 });

/** Reads a stream of server-sent events; `textIn` and `isEnd` inspect the content of each one. */
function readEvents(url, { textIn, isEnd, path = "/", body = () => "{}" }) {
  return (onDelta) =>
    new Promise((resolve, reject) => {
      let ended = false;
      const headers = { "content-type": "application/json" };
      const asked = request(`${url}${path}`, { agent, method: "POST", headers }, (response) => {
        let rest = "";
        response.setEncoding("utf8").on("data", (text) => {
          rest += text;
          let start = 0;
          for (;;) {
            const end = rest.indexOf("\n\n", start);
            if (end === -1) break;
            const data = rest.slice(rest.indexOf("data: ", start) + 6, end);
            start = end + 2;
            if (data === "[DONE]") continue;
            const event = JSON.parse(data);
            const delta = textIn(event);
            if (delta !== undefined) onDelta(delta);
            else if (isEnd(event)) ended = true;
          }
          rest = rest.slice(start);
        });
        response.on("end", () => (ended ? resolve() : reject(new Error("the stream ended early"))));
        response.on("error", reject);
      });
      asked.on("error", reject);
      asked.end(body());
    });
}

/** Opens a client for the API's own events, passed through. */
export const openPassedThrough = async (url) => ({
  ask: readEvents(url, {
    textIn: ({ type, delta }) => (type === "response.output_text.delta" ? delta : undefined),
    isEnd: ({ type }) => type === "response.completed",
  }),
  async prepare() {},
  close() {},
});

/**
 * Opens a client of a Parley server through OpenAI's API: each response in a conversation that was created
 * before.
 */
export const openResponses = async (url) => {
  const prepared = [];
  return {
    ask: readEvents(url, {
      path: "/v1/responses",
      body: () =>
        JSON.stringify({ input: "Tell me about streams.", conversation: prepared.pop(), stream: true }),
      textIn: ({ type, delta }) => (type === "response.output_text.delta" ? delta : undefined),
      isEnd: ({ type }) => type === "response.completed",
    }),
    async prepare(count) {
      while (prepared.length < count) prepared.push(await createConversation(url));
    },
    close() {},
  };
};

/** Opens a client for the AI SDK's stream for its own hooks. */
export const openUiMessages = async (url) => ({
  ask: readEvents(url, {
    textIn: ({ type, delta }) => (type === "text-delta" ? delta : undefined),
    isEnd: ({ type }) => type === "finish",
  }),
  async prepare() {},
  close() {},
});

/** Creates a conversation on a Parley server. */
async function createConversation(url) {
  const response = await fetch(`${url}/conversations`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  if (!response.ok) throw new Error(`POST /conversations answered ${response.status}`);
  return (await response.json()).conversation.id;
}

let made = 0;

/** Opens a socket of a server that stores no conversations. */
export const openForwarded = (url) =>
  openSocket(url, { createOne: async () => `bench-${process.pid}-${made++}`, leaves: false });

/**
 * Opens a socket: a message in a new conversation, then its turn's events until it is sealed. Conversations
 * are created by `prepare`, so that the client is subscribed from the turn's first event on.
 */
export async function openSocket(url, { createOne = createConversation, leaves = true } = {}) {
  const { WebSocket } = await import("ws");
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { perMessageDeflate: false });
  const turns = new Map();
  const prepared = [];
  let failure;
  const fail = (error) => {
    failure = error;
    for (const { reject } of turns.values()) reject(error);
    turns.clear();
  };
  socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    if (message.type === "chat.error") return fail(new Error(`${message.code}: ${message.message}`));
    if (message.type !== "chat.delta") return;
    const { event } = message;
    const turn = turns.get(event.conversationId);
    if (event.type === "text-delta") turn?.onDelta(event.delta);
    else if (event.type === "turn-sealed") {
      turns.delete(event.conversationId);
      // A client that has its answer unsubscribes.
      if (leaves)
        socket.send(JSON.stringify({ type: "chat.unsubscribe", conversationId: event.conversationId }));
      turn?.resolve();
    }
  });
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
  });
  socket.on("close", () => fail(new Error("the socket was closed")));
  socket.on("error", fail);
  return {
    async prepare(count) {
      while (prepared.length < count) prepared.push(await createOne(url));
    },
    ask: (onDelta) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        const conversationId = prepared.pop();
        turns.set(conversationId, { onDelta, resolve, reject });
        socket.send(JSON.stringify({ type: "chat.send", conversationId, message: "Tell me about streams." }));
      }),
    close() {
      socket.off("error", fail).on("error", () => {});
      socket.removeAllListeners("close");
      socket.close();
    },
  };
}
