// Messages as the lists that a hand-written statement expands with `unnest`.

const part = ({ type, name, arguments: _, argumentsText, result: __, resultText, toolCallId, ...rest }) =>
  type === "text"
    ? { type, ...rest }
    : {
        ...rest,
        type: "tool-invocation",
        toolCallId,
        toolName: name,
        ...(type === "tool-call"
          ? { argsText: argumentsText, state: "call" }
          : { resultText, state: "result" }),
      };

/**
 * Returns conversation, turn, then a list for each column, with the start of each message, and last the
 * number of parts.
 */
export function rowLists(conversationId, turnId, messages) {
  let start = 0;
  const starts = messages.map(({ content }) => {
    start += content.length;
    return start - content.length;
  });
  return [
    conversationId,
    turnId,
    messages.map(({ id }) => id),
    messages.map(({ role }) => role),
    messages.map(({ role }) => (role === "tool" ? "tool" : "text")),
    messages.map(({ content }) => JSON.stringify({ format: 2, parts: content.map(part) })),
    messages.map(({ createdAt }) => createdAt.toISOString()),
    starts,
    messages.map(({ content }) => content.length),
    start,
  ];
}
