import type { ProviderMessage } from "@parley/core/ports";
import { toolDefinition } from "@parley/core/turn";
import { secretMark, thoughtMark } from "./answer.js";
import { flatRequest, withoutClosing } from "./flat-request.js";
import type { History } from "./make-histories.js";
import type { Arrived, ProviderEndpoint } from "./provider-endpoint.js";
import { tools } from "./scenarios.js";

const question: ProviderMessage = { role: "user", content: [{ type: "text", text: "What now?" }] };
const definitions = tools.map(toolDefinition);

interface Request {
  readonly messages: readonly ProviderMessage[];
  readonly model: string;
  /** Origin under which the reader's own messages are known. Default: the reader's and the model's. */
  readonly origin?: { readonly provider: string; readonly model: string };
  readonly withTools: boolean;
}

/** A conversation with its origin, and the way it is shown. */
export interface ReplayedHistory {
  readonly history: History;
  /** The endpoint that made it; undefined for one that several have made. */
  readonly maker: ProviderEndpoint | undefined;
  /** The reader's models that are shown it. Default: both. */
  readonly models?: "first" | "second" | undefined;
  /** The requests of earlier turns, to be compared with; this one's is added. */
  readonly earlier: Map<History, string>;
}

/**
 * Shows a stored conversation to a provider: to its first model with tools and a further question, and to its second
 * as it is and without tools. A whole conversation is also shown to its maker as it was before it was stored, which
 * must give the same bytes, and to others under the name of its maker, because hosts rename their models. Returns the
 * failures; empty means that everything was accepted and answered.
 */
export async function replay(reader: ProviderEndpoint, given: ReplayedHistory): Promise<string[]> {
  const { history, maker, models, earlier } = given;
  const problems: string[] = [];
  const { stored } = history;
  const asking: Request = { messages: [...stored, question], model: reader.models[0], withTools: true };
  const plain: Request = { messages: stored, model: reader.models[1], withTools: false };
  const isForeign = maker !== undefined && maker !== reader;
  let asked: Arrived | undefined;
  if (models !== "second") {
    asked = await send(reader, asking, problems);
    problems.push(...lost(history, asked, reader), ...(isForeign ? leaked(asked, reader) : []));
    if (maker === reader) problems.push(...forgotten(history, asked, reader));
  }
  if (models !== "first") {
    const other = await send(reader, plain, problems);
    problems.push(...lost(history, other, reader), ...(maker === undefined ? [] : leaked(other, reader)));
    const flat = flatRequest(other?.body);
    const before = history.before === undefined ? undefined : earlier.get(history.before);
    if (before !== undefined && !flat.startsWith(withoutClosing(before))) {
      problems.push("the request of the turn before is not its beginning");
    }
    earlier.set(history, flat);
  }
  if (JSON.stringify(stored) !== history.key) problems.push("storing changed the messages");
  if (history.kind === "whole" && maker === reader) {
    const live = await send(reader, { ...asking, messages: [...history.live, question] }, problems);
    if (JSON.stringify(live?.body) !== JSON.stringify(asked?.body))
      problems.push("storing changed the request");
  }
  if (history.kind === "whole" && isForeign) {
    const origin = { provider: maker.provider, model: maker.models[0] };
    await send(reader, { ...asking, messages: stored, origin }, problems);
  }
  return problems;
}

async function send(
  endpoint: ProviderEndpoint,
  request: Request,
  problems: string[],
): Promise<Arrived | undefined> {
  const { messages, model, origin = { provider: endpoint.provider, model }, withTools } = request;
  const before = endpoint.count();
  try {
    const { message } = await endpoint.adapter(model).complete({
      messages: [...messages],
      metadata: origin,
      ...(withTools ? { tools: definitions } : {}),
      reasoningEffort: "high",
      cacheKey: "conversation",
    });
    if (message.content.length === 0) problems.push(`${model}: gave no answer`);
  } catch (error) {
    problems.push(`${model}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (endpoint.count() !== before + 1)
    problems.push(`${model}: ${endpoint.count() - before} requests instead of one`);
  const arrived = endpoint.latest();
  problems.push(...(arrived?.problems ?? []).map((problem) => `${model}: ${problem}`));
  return arrived;
}

/** Returns texts and tool results that did not reach the next model. All must, whichever model made them. */
function lost(history: History, arrived: Arrived | undefined, reader: ProviderEndpoint): string[] {
  const body = JSON.stringify(arrived?.body);
  const texts = history.live.flatMap(({ content }) =>
    content.flatMap((part): string[] => {
      if (part.type === "text") return [String(part.text)];
      return part.type === "tool-result" ? [String((part as { resultText?: unknown }).resultText)] : [];
    }),
  );
  if (reader.provider === "demo") return [];
  return (
    texts
      .map((text) => text.replace(/\p{Surrogate}/gu, "\ufffd"))
      // As text, or as the value that the text is.
      .filter((text) => text.trim() !== "" && !body.includes(JSON.stringify(text).slice(1, -1)))
      .filter((text) => !body.includes(text))
      .map((text) => `"${text}" is lost`)
  );
}

/** Returns reasoning and ids that reached another model than the one that made them. */
function leaked(arrived: Arrived | undefined, reader: ProviderEndpoint): string[] {
  // The demo is in this process and receives everything: there is nowhere to leak to.
  if (reader.provider === "demo") return [];
  const body = JSON.stringify(arrived?.body);
  return [secretMark, thoughtMark]
    .filter((mark) => body.includes(mark))
    .map((mark) => `"${mark}" was shown to another model`);
}

/** Returns reasoning that the model that made it did not get back, with its signature or encryption. */
function forgotten(history: History, arrived: Arrived | undefined, reader: ProviderEndpoint): string[] {
  const { thoughts } = history;
  if (thoughts === undefined) return [];
  const body = JSON.stringify(arrived?.body);
  const seals = new Set(body.match(new RegExp(`${secretMark}-(?:reasoning|signature|redacted)-\\w+`, "g")));
  const shownThoughts = body.split(thoughtMark).length - 1;
  if (reader.seals && seals.size !== thoughts) return [`${seals.size} of ${thoughts} seals were given back`];
  return shownThoughts < thoughts ? [`${shownThoughts} of ${thoughts} thoughts were given back`] : [];
}
