import type { CacheControl, MessageParam, TextBlock, ToolParam, UserBlock } from "../api-types.js";

/** Maximum number of cache breakpoints in one request. */
export const mostBreakpoints = 4;

/** The parts of a request that a cache can hold, in the order in which the API reads them. */
export interface CacheableRequest {
  readonly tools: readonly (ToolParam | object)[];
  readonly system: readonly TextBlock[];
  readonly messages: readonly MessageParam[];
}

/**
 * Sets the cache breakpoints: after the tools, after the instructions, after the message before the newest on
 * the user's side (where the last request ended) and after the newest (where the next will find it). `taken`
 * breakpoints are the caller's own.
 */
export function withBreakpoints(
  request: CacheableRequest,
  mark: CacheControl,
  taken: number,
): CacheableRequest {
  let left = mostBreakpoints - taken;
  const marked = <Block extends object>(block: Block): Block =>
    "cache_control" in block ? block : { ...block, cache_control: mark };
  const atEnd = <Block extends object>(blocks: readonly Block[]): readonly Block[] => {
    const last = blocks.at(-1);
    if (last === undefined || left <= 0 || "cache_control" in last) return blocks;
    left -= 1;
    return [...blocks.slice(0, -1), marked(last)];
  };
  // The newest breakpoint matters most, then the instructions, then the rest.
  const messages = [...request.messages];
  const ends = userEnds(messages);
  const markMessage = (place: number | undefined) => {
    const message = place === undefined ? undefined : messages[place];
    if (place === undefined || message?.role !== "user") return;
    messages[place] = { role: "user", content: atEnd<UserBlock>(message.content) };
  };
  markMessage(ends.at(-1));
  const system = atEnd(request.system);
  markMessage(ends.at(-2));
  const tools = atEnd(request.tools);
  return { tools, system, messages };
}

function userEnds(messages: readonly MessageParam[]): number[] {
  return messages.flatMap(({ role }, place) => (role === "user" ? [place] : []));
}
