import { isWellFormed } from "../well-formed.js";

/** One reason for which the API would refuse a request. */
export interface RequestProblem {
  /** Location in the body, such as `messages.2.content.0`. */
  readonly at: string;
  readonly problem: string;
}

type Fields = Readonly<Record<string, unknown>>;
type Report = (at: string, problem: string) => void;

const callId = /^[a-zA-Z0-9_-]+$/;
const toolName = /^[a-zA-Z0-9_-]{1,128}$/;
const imageTypes = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const mostBreakpoints = 4;
const leastBudget = 1_024;

/**
 * Returns every reason for which the API would refuse this body, as far as its shape decides. Empty for a body that
 * it accepts. Knows the rules of all current models at once, so it also refuses an answer to be continued.
 */
export function validateRequest(body: unknown): RequestProblem[] {
  const problems: RequestProblem[] = [];
  const report: Report = (at, problem) => problems.push({ at, problem });
  if (!isFields(body)) return [{ at: "", problem: "is not an object" }];
  if (!isWellFormed(body)) report("", "has half a surrogate pair");
  if (typeof body.model !== "string" || body.model === "") report("model", "is required");
  if (!isCount(body.max_tokens)) report("max_tokens", "must be a positive integer");
  checkSystem(body.system, report);
  const messages = Array.isArray(body.messages) ? (body.messages as unknown[]) : [];
  if (messages.length === 0) report("messages", "must not be empty");
  messages.forEach((message, index) => {
    checkMessage(message, messages[index - 1], messages[index + 1], `messages.${index}`, report);
  });
  if (roleOf(messages[0]) === "assistant") report("messages.0", "must be the user's");
  if (roleOf(messages.at(-1)) === "assistant") report("messages", "must end with the user");
  checkCallIds(messages, report);
  checkTools(body, messages, report);
  checkThinking(body, messages, report);
  if (countBreakpoints(body) > mostBreakpoints) report("", "has more than 4 cache breakpoints");
  return problems;
}

function checkSystem(system: unknown, report: Report): void {
  if (system === undefined) return;
  const texts = typeof system === "string" ? [{ type: "text", text: system }] : system;
  if (!Array.isArray(texts)) {
    report("system", "must be text");
    return;
  }
  texts.forEach((block: unknown, index) => {
    if (!isFields(block) || block.type !== "text") report(`system.${index}`, "must be text");
    else checkText(block.text, `system.${index}`, report);
  });
}

function checkMessage(message: unknown, before: unknown, after: unknown, at: string, report: Report): void {
  const role = roleOf(message);
  if (role !== "user" && role !== "assistant") {
    report(at, "has no known role");
    return;
  }
  if (role === roleOf(before)) report(at, "has the role of the message before it");
  const content = contentOf(message);
  if (content.length === 0) report(at, "has no content");
  content.forEach((block, index) => {
    checkBlock(block, role, `${at}.content.${index}`, report);
  });
  if (role === "user") checkResults(content, contentOf(before), roleOf(before), at, report);
  else checkAnswer(content, contentOf(after), at, report);
}

function checkAnswer(content: readonly Fields[], after: readonly Fields[], at: string, report: Report): void {
  const last = content.at(-1)?.type;
  if (last === "thinking" || last === "redacted_thinking") report(at, "ends with thinking");
  checkOwnTools(content, at, report);
  const open = idsOf(content, "tool_use", "id");
  const answers = idsOf(after, "tool_result", "tool_use_id");
  const missing = open.filter((id) => !answers.includes(id));
  if (missing.length > 0)
    report(at, `has tool_use without tool_result immediately after: ${missing.join(", ")}`);
}

function checkBlock(block: Fields, role: "user" | "assistant", at: string, report: Report): void {
  const { type } = block;
  switch (type) {
    case "text":
      checkText(block.text, at, report);
      break;
    case "image":
    case "document":
      if (role === "assistant") report(at, `${type} is not allowed in an answer`);
      checkSource(block, at, report);
      break;
    case "tool_result":
      if (role === "assistant") report(at, "tool_result is not allowed in an answer");
      checkResult(block, at, report);
      break;
    case "tool_use":
      if (role === "user") report(at, "tool_use is not allowed in a user message");
      if (!matches(block.id, callId)) report(at, "has an invalid id");
      if (!matches(block.name, toolName)) report(at, "has an invalid name");
      if (!isFields(block.input)) report(at, "input must be an object");
      break;
    case "thinking":
      if (typeof block.thinking !== "string") report(at, "has no thinking");
      if (!isText(block.signature)) report(at, "has no signature");
      checkUncached(block, role, at, report);
      break;
    case "redacted_thinking":
      if (!isText(block.data)) report(at, "has no data");
      checkUncached(block, role, at, report);
      break;
    default:
      // Kinds that only the API knows: it accepts back from the assistant what it has sent.
      if (typeof type !== "string" || type === "") report(at, "has no type");
      else if (role === "user") report(at, `${type} is not allowed in a user message`);
  }
}

function checkUncached(block: Fields, role: string, at: string, report: Report): void {
  if (role === "user") report(at, "thinking is not allowed in a user message");
  if (block.cache_control !== undefined) report(at, "thinking cannot be a cache breakpoint");
}

function checkText(text: unknown, at: string, report: Report): void {
  if (typeof text !== "string" || isBlank(text)) report(at, "text must contain non-whitespace text");
}

function checkResult(block: Fields, at: string, report: Report): void {
  if (!matches(block.tool_use_id, callId)) report(at, "has an invalid tool_use_id");
  if (typeof block.content !== "string") report(at, "content must be text");
  if (block.is_error === true && (typeof block.content !== "string" || isBlank(block.content))) {
    report(at, "content cannot be empty if is_error is true");
  }
}

function checkSource({ type, source }: Fields, at: string, report: Report): void {
  if (!isFields(source)) {
    report(at, "has no source");
    return;
  }
  const { type: kind, media_type: mediaType, data, url } = source;
  if (kind === "url") {
    if (!matches(url, /^https?:\/\/\S+$/i)) report(at, "has an invalid url");
  } else if (kind === "base64") {
    const known = type === "image" ? imageTypes.has(String(mediaType)) : mediaType === "application/pdf";
    if (!known) report(at, `has an unknown media type ${String(mediaType)}`);
    if (!isText(data) || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) {
      report(at, "has invalid base64 data");
    }
  } else if (kind === "text" && type === "document") {
    if (mediaType !== "text/plain") report(at, "must be text/plain");
    checkText(data, at, report);
  } else report(at, "has an unknown source");
}

/** Checks that results answer the calls of the message right before, each once, before everything else. */
function checkResults(
  content: readonly Fields[],
  before: readonly Fields[],
  roleBefore: unknown,
  at: string,
  report: Report,
): void {
  const calls = roleBefore === "assistant" ? idsOf(before, "tool_use", "id") : [];
  const seen = new Set<string>();
  let rest = false;
  content.forEach((block, index) => {
    if (block.type !== "tool_result") {
      rest = true;
      return;
    }
    const id = String(block.tool_use_id);
    const place = `${at}.content.${index}`;
    if (rest) report(place, "tool_result must come first");
    if (!calls.includes(id)) report(place, `unexpected tool_use_id ${id}`);
    if (seen.has(id)) report(place, `second result for ${id}`);
    seen.add(id);
  });
}

/** Checks that the API's own tools answer in the same message. */
function checkOwnTools(content: readonly Fields[], at: string, report: Report): void {
  const used = new Set<string>();
  const open = new Set<string>();
  for (const block of content) {
    if (typeof block.type !== "string") continue;
    const use = useOf(block);
    const answer = answerOf(block);
    if (use !== undefined) {
      if (used.has(use)) report(at, `second use ${use}`);
      used.add(use);
      open.add(use);
    } else if (answer !== undefined && !open.delete(answer)) {
      report(at, `${block.type} without its use: ${answer}`);
    }
  }
  if (open.size > 0) report(at, `use without its result: ${[...open].join(", ")}`);
}

function checkCallIds(messages: readonly unknown[], report: Report): void {
  const ids = messages.flatMap((message) => idsOf(contentOf(message), "tool_use", "id"));
  if (new Set(ids).size !== ids.length) report("messages", "tool_use ids must be unique");
}

function checkTools(body: Fields, messages: readonly unknown[], report: Report): void {
  const tools = Array.isArray(body.tools) ? (body.tools as unknown[]) : [];
  const names = new Set<unknown>();
  for (const [index, tool] of tools.entries()) {
    const at = `tools.${index}`;
    if (!isFields(tool)) {
      report(at, "is not an object");
      continue;
    }
    if (!matches(tool.name, toolName)) report(at, "has an invalid name");
    if (names.has(tool.name)) report(at, "tool names must be unique");
    names.add(tool.name);
    // A tool of the API itself has a type instead.
    if (tool.type === undefined || tool.type === "custom") checkSchema(tool.input_schema, at, report);
  }
  const usesTools = messages.some((message) =>
    contentOf(message).some(({ type }) => type === "tool_use" || type === "tool_result"),
  );
  if (usesTools && tools.length === 0) report("tools", "must be given where messages use tools");
  const choice = body.tool_choice;
  if (choice === undefined) return;
  if (tools.length === 0) report("tool_choice", "needs tools");
  if (!isFields(choice) || !["auto", "any", "tool", "none"].includes(String(choice.type))) {
    report("tool_choice", "has an unknown type");
  } else if (choice.type === "tool" && !names.has(choice.name)) report("tool_choice", "names no tool");
}

function checkSchema(schema: unknown, at: string, report: Report): void {
  if (!isFields(schema) || schema.type !== "object") {
    report(at, "input_schema must be of type object");
    return;
  }
  for (const keyword of ["oneOf", "allOf", "anyOf"]) {
    if (keyword in schema) report(at, `input_schema does not support ${keyword} at the top level`);
  }
}

function checkThinking(body: Fields, messages: readonly unknown[], report: Report): void {
  const { thinking, tool_choice: choice, max_tokens: maxTokens } = body;
  if (!isFields(thinking)) return;
  if (isFields(choice) && (choice.type === "any" || choice.type === "tool")) {
    report("thinking", "may not be enabled when tool_choice forces tool use");
  }
  if (thinking.type !== "enabled") return;
  const budget = thinking.budget_tokens;
  if (!isCount(budget) || budget < leastBudget) report("thinking", "budget_tokens must be at least 1024");
  else if (isCount(maxTokens) && budget >= maxTokens) report("thinking", "max_tokens must be greater");
  const answer = messages.findLast((message) => roleOf(message) === "assistant");
  const results = contentOf(messages.at(-1)).some(({ type }) => type === "tool_result");
  const first = contentOf(answer)[0]?.type;
  if (results && first !== "thinking" && first !== "redacted_thinking") {
    report("messages", "a final answer must start with thinking");
  }
}

function countBreakpoints(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, inner) => sum + countBreakpoints(inner), 0);
  if (!isFields(value)) return 0;
  return Object.entries(value).reduce(
    (sum, [key, inner]) =>
      sum + (key === "cache_control" ? 1 : key === "input" ? 0 : countBreakpoints(inner)),
    0,
  );
}

function contentOf(message: unknown): readonly Fields[] {
  const content = isFields(message) ? message.content : undefined;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.map((block: unknown) => (isFields(block) ? block : {})) : [];
}

function idsOf(content: readonly Fields[], type: string, field: string): string[] {
  return content.flatMap((block) => (block.type === type ? [String(block[field])] : []));
}

function roleOf(message: unknown): unknown {
  return isFields(message) ? message.role : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

/** Returns the id of a use of one of the API's own tools. */
function useOf({ type, id }: Fields): string | undefined {
  return type !== "tool_use" && String(type).endsWith("_tool_use") ? String(id) : undefined;
}

/** Returns the id of the use that a block answers, for answers of the API's own tools. */
function answerOf({ type, tool_use_id: id }: Fields): string | undefined {
  return type !== "tool_result" && String(type).endsWith("_tool_result") ? String(id) : undefined;
}

/** The characters that the API counts as white space and JavaScript does not. */
const separators = "\u001c\u001d\u001e\u001f\u0085";

function isBlank(text: string): boolean {
  for (const character of text) if (!separators.includes(character) && character.trim() !== "") return false;
  return true;
}
