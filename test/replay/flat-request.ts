type Fields = Record<string, unknown>;

/**
 * Returns the conversation in a request as one text, in the order in which a model reads it, without marks for a
 * cache. A request that repeats an earlier one has that as its prefix; how the pieces are grouped into messages does
 * not matter.
 */
export function flatRequest(body: unknown): string {
  const { input, messages, prompt } = body as Fields;
  const list = [input, messages, prompt].find(Array.isArray) as Fields[] | undefined;
  let role = "";
  let flat = "";
  for (const message of list ?? []) {
    const speaker = String(message.role ?? message.type);
    const { role: _, content, ...rest } = message;
    const isNew = speaker !== role || speaker === "function_call_output" || speaker === "tool";
    if (isNew) flat += `\n<${speaker}>`;
    role = speaker;
    if (typeof content === "string") flat += content;
    else for (const part of Array.isArray(content) ? (content as Fields[]) : []) flat += flatPart(part);
    if (Object.values(rest).some((value) => value !== undefined)) flat += flatPart(rest);
  }
  return flat;
}

/** Returns the text without the closing that an adapter adds so that there is a user message to answer. */
export function withoutClosing(flat: string): string {
  return flat.replace(/\n<user>(?:\{"type":"(?:input_)?text","text":"Continue\."\}|Continue\.)$/, "");
}

function flatPart(part: Fields): string {
  const { cache_control: _, ...rest } = part;
  return JSON.stringify(rest);
}
