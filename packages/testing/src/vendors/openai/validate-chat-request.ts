import { isWellFormed } from "../well-formed.js";
import { isImageUrl } from "./image-url.js";
import { functionProblems } from "./validate-responses-request.js";

/**
 * Returns the reasons for which a server of the chat completions API would refuse a body for its shape; empty for one
 * that all accept. As strict as the strictest known server: one system message in front, user and assistant in turn,
 * results right after their calls, arguments that parse to an object.
 */
export function validateChatRequest(body: unknown): string[] {
  if (!isRecord(body)) return ["body: must be an object"];
  const problems: string[] = [];
  const say = (problem: string) => problems.push(problem);
  if (!isText(body.model)) say("model: must be a text");
  if (!isWellFormed(body)) say("body: a text has half of a surrogate pair");
  if (!Array.isArray(body.messages) || body.messages.length === 0) return [...problems, "messages: is empty"];
  checkTools(body, say);
  for (const [index, message] of body.messages.entries()) checkMessage(message, `messages[${index}]`, say);
  checkOrder(body.messages, say);
  return problems;
}

type Say = (problem: string) => void;
type Fields = Record<string, unknown>;

function checkTools(body: Fields, say: Say): void {
  if (body.tools === undefined) {
    if (body.tool_choice !== undefined) say("tool_choice: there are no tools");
    return;
  }
  if (!Array.isArray(body.tools) || body.tools.length === 0) return void say("tools: must not be empty");
  const names = new Set<unknown>();
  for (const [index, tool] of body.tools.entries()) {
    const described = isRecord(tool) && tool.type === "function" ? tool.function : undefined;
    if (!isRecord(described)) {
      say(`tools[${index}]: must be a function`);
      continue;
    }
    if (names.has(described.name)) say(`tools[${index}].function.name: comes twice`);
    names.add(described.name);
    for (const problem of functionProblems(described)) say(`tools[${index}].function.${problem}`);
  }
}

function checkMessage(message: unknown, at: string, say: Say): void {
  if (!isRecord(message)) return void say(`${at}: must be an object`);
  switch (message.role) {
    case "system":
    case "developer":
      if (!isText(message.content)) say(`${at}.content: must be a text, not empty`);
      break;
    case "user":
      if (!isText(message.content)) checkContent(message.content, `${at}.content`, say);
      break;
    case "tool":
      if (!isText(message.tool_call_id)) say(`${at}.tool_call_id: is missing`);
      if (!isText(message.content)) say(`${at}.content: must be a text, not empty`);
      break;
    case "assistant":
      checkAssistant(message, at, say);
      break;
    default:
      say(`${at}.role: unknown value`);
  }
}

function checkContent(content: unknown, at: string, say: Say): void {
  if (!Array.isArray(content) || content.length === 0) return void say(`${at}: must not be empty`);
  for (const [index, part] of content.entries()) {
    const where = `${at}[${index}]`;
    if (!isRecord(part)) say(`${where}: must be an object`);
    else if (part.type === "text") {
      if (!isText(part.text)) say(`${where}.text: must be a text, not empty`);
    } else if (part.type === "image_url") {
      if (!isRecord(part.image_url) || !isImageUrl(part.image_url.url)) say(`${where}: has no image`);
    } else if (part.type === "file") {
      if (!isRecord(part.file) || !isText(part.file.file_data)) say(`${where}: has no file`);
    } else say(`${where}.type: unknown value`);
  }
}

function checkAssistant(message: Fields, at: string, say: Say): void {
  const calls = message.tool_calls;
  if (calls === undefined) {
    if (!isText(message.content)) say(`${at}.content: must be a text, not empty`);
    return;
  }
  if (message.content !== null && !isText(message.content)) say(`${at}.content: must be null or a text`);
  if (!Array.isArray(calls) || calls.length === 0) return void say(`${at}.tool_calls: must not be empty`);
  for (const [index, call] of calls.entries()) {
    const where = `${at}.tool_calls[${index}]`;
    const described = isRecord(call) ? call.function : undefined;
    if (!isRecord(call) || !isText(call.id) || call.type !== "function" || !isRecord(described)) {
      say(`${where}: must have id, type and function`);
      continue;
    }
    if (call.id.length > 64) say(`${where}.id: longer than 64`);
    if (typeof described.name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(described.name)) {
      say(`${where}.function.name: must match ^[a-zA-Z0-9_-]{1,64}$`);
    }
    if (!isObjectText(described.arguments)) say(`${where}.function.arguments: must be the text of an object`);
  }
}

function checkOrder(messages: readonly unknown[], say: Say): void {
  const ids = new Set<unknown>();
  let open: unknown[] = [];
  let previous = "";
  for (const [index, message] of messages.entries()) {
    if (!isRecord(message)) continue;
    const at = `messages[${index}]`;
    const role = String(message.role);
    if (role === "tool") {
      if (open.shift() !== message.tool_call_id) say(`${at}: does not answer the next call in front of it`);
    } else {
      if (open.length > 0) say(`${at}: comes before the results of the calls in front of it`);
      open = [];
      if (role === "system" && index > 0) say(`${at}: a system message must be first`);
      if (role === "user" && previous === "user") say(`${at}: the user speaks twice`);
      if (role === "assistant" && (previous === "assistant" || previous === "" || previous === "system")) {
        say(`${at}: no message of the user precedes the assistant's`);
      }
      const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
      for (const call of calls) {
        const id = isRecord(call) ? call.id : undefined;
        if (ids.has(id)) say(`${at}: a call id comes twice`);
        ids.add(id);
        open.push(id);
      }
    }
    previous = role;
  }
  if (open.length > 0) say("messages: a call has no result");
  if (!messages.some((message) => isRecord(message) && message.role === "user")) say("messages: no user");
}

function isObjectText(text: unknown): boolean {
  if (typeof text !== "string") return false;
  try {
    return isRecord(JSON.parse(text));
  } catch {
    return false;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
