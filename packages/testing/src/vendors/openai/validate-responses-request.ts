import { isWellFormed } from "../well-formed.js";
import { isImageUrl } from "./image-url.js";

/**
 * Returns the reasons for which the Responses API would refuse a body for its shape; empty for one that it accepts.
 * Encodes the API's documentation and its error messages: roles and their parts, pairs of calls and outputs,
 * reasoning with what followed it, limits of ids, names, metadata and tokens.
 */
export function validateResponsesRequest(body: unknown): string[] {
  if (!isRecord(body)) return ["body: must be an object"];
  const problems: string[] = [];
  const say = (problem: string) => problems.push(problem);
  if (!isText(body.model)) say("model: must be a text");
  if (!isWellFormed(body)) say("body: a text has half of a surrogate pair");
  checkFields(body, say);
  checkTools(body, say);
  const chained = isText(body.previous_response_id);
  if (typeof body.input === "string") {
    if (body.input === "") say("input: is empty");
  } else if (!Array.isArray(body.input)) {
    say("input: must be a text or an array");
  } else {
    if (body.input.length === 0) say("input: is empty");
    for (const [index, item] of body.input.entries()) checkItem(item, `input[${index}]`, say);
    checkPairs(body.input, chained, say);
    checkReasoning(body.input, say);
  }
  return problems;
}

type Say = (problem: string) => void;
type Fields = Record<string, unknown>;

const notFields = [
  "messages",
  "modalities",
  "response_format",
  "reasoning_effort",
  "max_tokens",
  "functions",
];
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function checkFields(body: Fields, say: Say): void {
  for (const field of notFields) if (field in body) say(`${field}: unknown parameter`);
  const most = body.max_output_tokens;
  if (most !== undefined && !(Number.isInteger(most) && (most as number) >= 16)) {
    say("max_output_tokens: must be an integer of at least 16");
  }
  if (isRecord(body.reasoning)) {
    const { effort } = body.reasoning;
    if (effort !== undefined && !efforts.includes(String(effort))) say("reasoning.effort: unknown value");
  }
  if (body.metadata === undefined) return;
  if (!isRecord(body.metadata)) return void say("metadata: must be an object");
  const pairs = Object.entries(body.metadata);
  if (pairs.length > 16) say("metadata: more than 16 pairs");
  for (const [key, value] of pairs) {
    if (key.length > 64) say("metadata: a key is longer than 64");
    if (typeof value !== "string" || value.length > 512)
      say(`metadata.${key}: must be a text of at most 512`);
  }
}

function checkTools(body: Fields, say: Say): void {
  if (body.tools === undefined) {
    if (body.tool_choice !== undefined) say("tool_choice: there are no tools");
    return;
  }
  if (!Array.isArray(body.tools)) return void say("tools: must be an array");
  const names = new Set<unknown>();
  for (const [index, tool] of body.tools.entries()) {
    const at = `tools[${index}]`;
    if (!isRecord(tool) || !isText(tool.type)) {
      say(`${at}.type: is missing`);
      continue;
    }
    if (tool.type !== "function") continue;
    if (names.has(tool.name)) say(`${at}.name: comes twice`);
    names.add(tool.name);
    for (const problem of functionProblems(tool)) say(`${at}.${problem}`);
    if (typeof tool.strict !== "boolean" && tool.strict !== null) say(`${at}.strict: must be said`);
  }
}

/** Returns the errors in a function's name and schema. */
export function functionProblems(tool: Fields): string[] {
  const problems: string[] = [];
  if (!isName(tool.name)) problems.push("name: must match ^[a-zA-Z0-9_-]{1,64}$");
  const schema = tool.parameters;
  if (!isRecord(schema) || schema.type !== "object" || !isRecord(schema.properties)) {
    problems.push("parameters: must be an object schema with properties");
  } else if (["anyOf", "oneOf", "allOf", "enum", "not"].some((keyword) => keyword in schema)) {
    problems.push("parameters: no alternatives at the top");
  }
  return problems;
}

function checkItem(item: unknown, at: string, say: Say): void {
  if (!isRecord(item)) return void say(`${at}: must be an object`);
  if (item.tool_calls !== undefined) say(`${at}.tool_calls: unknown parameter`);
  switch (item.type) {
    case undefined:
    case "message":
      checkMessage(item, at, say);
      break;
    case "function_call":
      checkCallId(item, at, say);
      if (!isName(item.name)) say(`${at}.name: must match ^[a-zA-Z0-9_-]{1,64}$`);
      if (typeof item.arguments !== "string") say(`${at}.arguments: must be a text`);
      break;
    case "function_call_output":
      checkCallId(item, at, say);
      if (typeof item.output !== "string") checkContent(item.output, `${at}.output`, inputTypes, say);
      break;
    case "reasoning":
      if (!isText(item.id)) say(`${at}.id: is missing`);
      if (!Array.isArray(item.summary)) say(`${at}.summary: must be an array`);
      if (!isText(item.encrypted_content)) say(`${at}.encrypted_content: is missing, and nothing is stored`);
      break;
    default:
      if (!isText(item.type)) say(`${at}.type: must be a text`);
  }
}

const inputTypes = ["input_text", "input_image", "input_file", "input_audio"];
const outputTypes = ["output_text", "refusal"];
const roles = ["user", "system", "developer", "assistant"];

function checkMessage(item: Fields, at: string, say: Say): void {
  if (!roles.includes(String(item.role))) say(`${at}.role: supported values are ${roles.join(", ")}`);
  const { phase } = item;
  if (phase !== undefined && phase !== null && phase !== "commentary" && phase !== "final_answer") {
    say(`${at}.phase: unknown value`);
  }
  if (typeof item.content === "string") {
    if (item.content === "") say(`${at}.content: is empty`);
    return;
  }
  checkContent(item.content, `${at}.content`, item.role === "assistant" ? outputTypes : inputTypes, say);
}

function checkContent(content: unknown, at: string, types: readonly string[], say: Say): void {
  if (!Array.isArray(content)) return void say(`${at}: must be a text or an array`);
  if (content.length === 0) say(`${at}: is empty`);
  for (const [index, part] of content.entries()) {
    const where = `${at}[${index}]`;
    if (!isRecord(part) || !types.includes(String(part.type))) {
      say(`${where}.type: supported values are ${types.join(", ")}`);
    } else if (part.type === "input_text" || part.type === "output_text") {
      if (!isText(part.text)) say(`${where}.text: must be a text, not empty`);
    } else if (part.type === "refusal") {
      if (!isText(part.refusal)) say(`${where}.refusal: must be a text, not empty`);
    } else if (part.type === "input_image") {
      if (!isImageUrl(part.image_url) && !isText(part.file_id)) say(`${where}: has no image`);
    } else if (part.type === "input_file") {
      if (!isText(part.file_data) && !isText(part.file_url) && !isText(part.file_id)) {
        say(`${where}: has no file`);
      }
    }
  }
}

function checkCallId(item: Fields, at: string, say: Say): void {
  if (!isText(item.call_id) || item.call_id.length > 64) say(`${at}.call_id: must have 1 to 64 characters`);
}

/** Checks that there is one output per call, after it and after all calls of its batch, before anything else. */
function checkPairs(items: readonly unknown[], chained: boolean, say: Say): void {
  const seen = new Set<unknown>();
  const open = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    if (!isRecord(item)) continue;
    const id = item.call_id;
    if (item.type === "function_call") {
      if (seen.has(id)) say(`input[${index}].call_id: comes twice`);
      seen.add(id);
      open.add(id);
    } else if (item.type === "function_call_output") {
      if (!open.delete(id) && !chained) say(`input[${index}]: no tool call found for function call output`);
    } else if (
      open.size > 0 &&
      (item.role === "user" || item.role === "system" || item.role === "developer")
    ) {
      say(`input[${index}]: comes before the outputs of the calls in front of it`);
    }
  }
  for (const id of open) say(`input: no tool output found for function call ${String(id)}`);
}

/** Checks that reasoning comes before what the model made of it. */
function checkReasoning(items: readonly unknown[], say: Say): void {
  const ids = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    if (!isRecord(item)) continue;
    if (isText(item.id)) {
      if (ids.has(item.id)) say(`input[${index}].id: duplicate item found`);
      ids.add(item.id);
    }
    if (item.type !== "reasoning") continue;
    const next = items.slice(index + 1).find((other) => isRecord(other) && other.type !== "reasoning");
    const made =
      isRecord(next) &&
      (next.role === "assistant" ||
        (next.role === undefined && next.type !== "function_call_output" && next.type !== undefined));
    if (!made) say(`input[${index}]: reasoning was provided without its required following item`);
  }
}

function isName(value: unknown): boolean {
  return typeof value === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
