// The turn through LangGraph and its PostgreSQL saver: an agent node and a tools node, a checkpoint after each step.
import { nextId, turnOf } from "./persisted-turn.mjs";

/**
 * `snapshotEvery`: store what each step added, and all messages only every so many steps (its delta channel).
 * Without it, as by default, all messages are written at each step.
 */
export async function openLangGraph(url, { snapshotEvery } = {}) {
  const langgraph = await import("@langchain/langgraph");
  const { PostgresSaver } = await import("@langchain/langgraph-checkpoint-postgres");
  const { AIMessage, HumanMessage, ToolMessage } = await import("@langchain/core/messages");
  const saver = PostgresSaver.fromConnString(url);
  await saver.setup();
  const { END, MessagesAnnotation, START, StateGraph } = langgraph;
  const schema = snapshotEvery === undefined ? MessagesAnnotation : deltaSchema(langgraph, snapshotEvery);
  /** The agent's next answers and its tools' results, by conversation: the model is not part of this. */
  const scripts = new Map();
  const scriptOf = (config) => scripts.get(config.configurable.thread_id);
  const graph = new StateGraph(schema)
    .addNode("agent", async (_, config) => ({ messages: [scriptOf(config).answers.shift()] }))
    .addNode("tools", async (_, config) => ({ messages: scriptOf(config).results.shift() }))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", ({ messages }) => (messages.at(-1).tool_calls?.length > 0 ? "tools" : END))
    .addEdge("tools", "agent")
    .compile({ checkpointer: saver });
  const configOf = (id) => ({ configurable: { thread_id: id }, recursionLimit: 1_000 });

  const toText = (content) => content.find(({ type }) => type === "text")?.text ?? "";
  const toAnswer = ({ id, content }) =>
    new AIMessage({
      id,
      content: toText(content),
      tool_calls: content
        .filter(({ type }) => type === "tool-call")
        .map(({ toolCallId, name, arguments: args }) => ({ id: toolCallId, name, args })),
    });
  const toResult = ({ id, content: [part] }) =>
    new ToolMessage({ id, tool_call_id: part.toolCallId, name: part.name, content: part.resultText });

  return {
    close: () => saver.end(),
    async turn(conversationId) {
      const { user, calling, results, last } = turnOf(conversationId);
      scripts.set(conversationId, {
        answers: [toAnswer(calling), toAnswer(last)],
        results: [results.map(toResult)],
      });
      const question = new HumanMessage({ id: user.id, content: toText(user.content) });
      await graph.invoke({ messages: [question] }, configOf(conversationId));
    },
    /** Plays a turn of an agent from `agentTurns`. */
    async play(conversationId, _, { user, steps, answer }) {
      scripts.set(conversationId, {
        answers: [
          ...steps.map(
            ({ thought, calls }) =>
              new AIMessage({
                id: nextId(),
                content: thought,
                tool_calls: calls.map(({ toolCallId, name, arguments: args }) => ({
                  id: toolCallId,
                  name,
                  args,
                })),
              }),
          ),
          new AIMessage({ id: nextId(), content: answer }),
        ],
        results: steps.map(({ calls }) =>
          calls.map(
            ({ toolCallId, name, resultText }) =>
              new ToolMessage({ id: nextId(), tool_call_id: toolCallId, name, content: resultText }),
          ),
        ),
      });
      const question = new HumanMessage({ id: nextId(), content: user });
      await graph.invoke({ messages: [question] }, configOf(conversationId));
    },
    /** Returns the bytes passed to the saver so far, before the database compressed them. */
    async bytesWritten(client) {
      const { rows } = await client.query(
        "SELECT (SELECT coalesce(sum(length(blob)), 0) FROM checkpoint_blobs) + (SELECT coalesce(sum(length(blob)), 0) FROM checkpoint_writes) AS bytes",
      );
      return Number(rows[0].bytes);
    },
    /** Creates a conversation that already has these messages, in one checkpoint. */
    async seed(conversationId, messages) {
      const state = messages.map((message) => {
        if (message.role === "assistant") return toAnswer(message);
        if (message.role === "tool") return toResult(message);
        return new HumanMessage({ id: message.id, content: toText(message.content) });
      });
      await graph.updateState(configOf(conversationId), { messages: state }, "agent");
    },
    async readNewest(conversationId, limit) {
      const { values } = await graph.getState(configOf(conversationId));
      return values.messages.slice(-limit).length;
    },
  };
}

/** Creates a schema like its built-in field for messages, with our snapshot frequency. */
function deltaSchema({ DeltaValue, MessagesDeltaValue, StateSchema }, snapshotFrequency) {
  const { inputSchema, reducer, valueSchema } = MessagesDeltaValue;
  return new StateSchema({
    messages: new DeltaValue(valueSchema, { inputSchema, reducer, snapshotFrequency }),
  });
}
