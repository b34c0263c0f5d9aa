// The turn through @mastra/pg, in four commits: its messages are written whole, and again when they have grown.
import { nextId, turnOf } from "./persisted-turn.mjs";

const owner = "owner";

export async function openMastra(url) {
  const { PostgresStore } = await import("@mastra/pg");
  const store = new PostgresStore({ id: "bench", connectionString: url, max: 10 });
  await store.init();
  const memory = await store.getStore("memory");
  const openThread = (id) => {
    const now = new Date();
    return memory.saveThread({
      thread: { id, resourceId: owner, title: "title", createdAt: now, updatedAt: now },
    });
  };
  /** @type {(threadId: string, role: import("@mastra/core/agent").MastraDBMessage["role"], ...rest: unknown[]) => Promise<unknown>} */
  const save = (threadId, role, id, createdAt, parts) =>
    memory.saveMessages({
      messages: [
        { id, threadId, resourceId: owner, role, type: "v2", createdAt, content: { format: 2, parts } },
      ],
    });
  return {
    close: () => store.close(),
    async turn(conversationId, number) {
      const { user, calling, results, last } = turnOf(conversationId);
      if (number === 0) await openThread(conversationId);
      await save(conversationId, "user", user.id, user.createdAt, user.content);
      // One assistant message for the whole turn: its calls, then their results in place, then the answer.
      const { id, createdAt } = calling;
      const [thought, ...calls] = calling.content;
      const invoked = (state) =>
        calls.map(({ toolCallId, name, arguments: args }, place) => ({
          type: "tool-invocation",
          toolInvocation: {
            state,
            toolCallId,
            toolName: name,
            args,
            ...(state === "result" ? { result: results[place].content[0].result } : {}),
          },
        }));
      await save(conversationId, "assistant", id, createdAt, [thought, ...invoked("call")]);
      await save(conversationId, "assistant", id, createdAt, [thought, ...invoked("result")]);
      await save(conversationId, "assistant", id, createdAt, [
        thought,
        ...invoked("result"),
        ...last.content,
      ]);
    },
    /** Writes the messages of a turn in one call: the results are in the message with the calls. */
    async append(conversationId, number) {
      const { user, calling, results, last } = turnOf(conversationId);
      if (number === 0) await openThread(conversationId);
      const [thought, ...calls] = calling.content;
      const done = calls.map(({ toolCallId, name: toolName, arguments: args }, place) => ({
        type: "tool-invocation",
        toolInvocation: {
          state: "result",
          toolCallId,
          toolName,
          args,
          result: results[place].content[0].result,
        },
      }));
      const row = ({ id, role, createdAt }, parts) => ({
        id,
        threadId: conversationId,
        resourceId: owner,
        role,
        type: "v2",
        createdAt,
        content: { format: 2, parts },
      });
      await memory.saveMessages({
        messages: [row(user, user.content), row(calling, [thought, ...done]), row(last, last.content)],
      });
    },
    /** Plays a turn of an agent from `agentTurns`: its message is written again after each step. */
    async play(conversationId, number, { user, steps, answer }) {
      if (number === 0) await openThread(conversationId);
      await save(conversationId, "user", nextId(), new Date(), [{ type: "text", text: user }]);
      const id = nextId();
      const createdAt = new Date();
      const parts = [];
      for (const { thought, calls } of steps) {
        parts.push({ type: "text", text: thought });
        const from = parts.length;
        for (const { toolCallId, name: toolName, arguments: args } of calls)
          parts.push({
            type: "tool-invocation",
            toolInvocation: { state: "call", toolCallId, toolName, args },
          });
        await save(conversationId, "assistant", id, createdAt, parts);
        for (const [place, { resultText }] of calls.entries())
          Object.assign(parts[from + place].toolInvocation, { state: "result", result: resultText });
        await save(conversationId, "assistant", id, createdAt, parts);
      }
      await save(conversationId, "assistant", id, createdAt, [...parts, { type: "text", text: answer }]);
    },
    /** Creates a conversation of this many messages, filled by the server itself. */
    async fill(pool, length) {
      const id = nextId();
      await openThread(id);
      await pool.query(
        `INSERT INTO mastra_messages (id, thread_id, "resourceId", role, type, content, "createdAt", "createdAtZ")
        SELECT $1 || '-' || n, $1, '${owner}', CASE n % 2 WHEN 1 THEN 'user' ELSE 'assistant' END, 'v2',
          jsonb_build_object('format', 2, 'parts', jsonb_build_array(jsonb_build_object('type', 'text', 'text',
            'Message ' || n || ' of this conversation. ' || repeat('lorem ipsum dolor ', 22))))::text,
          now() + n * interval '1 ms', now() + n * interval '1 ms'
        FROM generate_series(1, $2::int) n`,
        [id, length],
      );
      return id;
    },
    async readNewest(threadId, limit) {
      const { messages } = await memory.listMessages({
        threadId,
        perPage: limit,
        page: 0,
        orderBy: { field: "createdAt", direction: "DESC" },
      });
      return messages.length;
    },
  };
}
