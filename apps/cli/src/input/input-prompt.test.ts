import type { PendingRequest, StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { safeText } from "../terminal/safe-text.js";
import { createStyle } from "../terminal/style.js";
import { type InputPrompt, openPrompt, type PromptAction, pressPrompt, promptRows } from "./input-prompt.js";

const approval: PendingRequest = {
  conversationId: "c",
  title: "",
  turnId: "t",
  stepId: "t.0" as StepId,
  requestId: "t.0.0",
  kind: "approval",
  toolCallId: "1",
  toolName: "pay",
  argumentsText: '{"amount":5,"to":"bob"}',
  argumentsHash: "hash",
  reason: "money",
  createdAt: 0,
};
const question: PendingRequest = {
  ...approval,
  kind: "question",
  toolName: "ask_user",
  reason: "Tea or coffee?",
  schema: { enum: ["tea", "coffee"] },
};

/** Types a text, a key at a time, then presses Enter. */
function enter(prompt: InputPrompt, text: string): { prompt: InputPrompt; action?: PromptAction } {
  let current = prompt;
  for (const character of text) current = pressPrompt(current, character, { name: character }).prompt;
  return pressPrompt(current, "\r", { name: "return" });
}

const view = { columns: 70, style: createStyle(false), now: 60_000, height: 30, count: 1 };

describe("a prompt for an approval", () => {
  it.each([
    ["a", { decision: "allow", argumentsHash: "hash" }],
    ["c", { decision: "allow", argumentsHash: "hash", scope: { in: "conversation" } }],
    ["o", { decision: "allow", argumentsHash: "hash", scope: { in: "owner" } }],
    ["d", { decision: "deny" }],
    ["d not on Sundays", { decision: "deny", note: "not on Sundays" }],
    ["/deny no", { decision: "deny", note: "no" }],
  ])("takes %s", (text, response) => {
    expect(enter(openPrompt(approval), text).action).toEqual({ type: "respond", response });
  });

  it("decides nothing by a message that begins with a letter of a choice, and keeps it", () => {
    for (const text of [
      "a long answer please",
      "all of it",
      "allow",
      "A",
      "down with it",
      "order tea",
      "c d",
    ]) {
      const { prompt, action } = enter(openPrompt(approval), text);
      expect(action).toBeUndefined();
      expect(prompt.line.text).toBe(text);
      expect(prompt.notice).toContain("none of the choices");
    }
    expect(pressPrompt(openPrompt(approval), "a", { name: "a" }).action).toBeUndefined();
  });

  it("runs with edited arguments, which are shown as a difference before", () => {
    const { prompt: editing } = enter(openPrompt(approval), "e");
    expect(JSON.parse(editing.line.text)).toEqual({ amount: 5, to: "bob" });
    const changed = { ...editing, line: { ...editing.line, text: '{"amount": 4, "to": "bob"}' } };
    const { prompt, action } = enter(changed, "");
    expect(action).toBeUndefined();
    expect(promptRows(prompt, view).join("\n")).toMatch(
      /- {3}"amount": 5,\n +\+ {3}"amount": 4,\n +"to": "bob"/,
    );
    expect(enter(prompt, "a").action).toEqual({
      type: "respond",
      response: { decision: "allow", argumentsHash: "hash", argumentsText: '{"amount":4,"to":"bob"}' },
    });
  });

  it("takes an edit that changes nothing as none, and refuses one that is not JSON", () => {
    const { prompt: editing } = enter(openPrompt(approval), "e");
    expect(enter(editing, "").prompt.changed).toBeUndefined();
    const broken = enter({ ...editing, line: { ...editing.line, text: "{" } }, "");
    expect(broken.prompt).toMatchObject({
      mode: "edit",
      notice: expect.stringContaining("not JSON") as unknown,
    });
    expect(pressPrompt(broken.prompt, undefined, { name: "escape" }).prompt.mode).toBe("choose");
  });

  it("is put off with l or Esc, and leaves other commands to the chat", () => {
    expect(enter(openPrompt(approval), "l").action).toEqual({ type: "later" });
    expect(pressPrompt(openPrompt(approval), undefined, { name: "escape" }).action).toEqual({
      type: "later",
    });
    expect(enter(openPrompt(approval), "/stop").action).toEqual({ type: "command", text: "/stop" });
  });

  it("spells out what an approval covers", () => {
    const shown = promptRows(openPrompt(approval), view).join("\n");
    expect(shown).toContain("? pay asks for approval since 1 min");
    expect(shown).toContain("money");
    expect(shown).toContain("always allow pay in all conversations, whatever the arguments");
    const once = { ...approval, remember: true as const };
    expect(promptRows(openPrompt(once), view).join("\n")).toContain(
      "allow, and later calls of pay in this conversation too",
    );
    expect(enter(openPrompt(once), "c").action).toBeUndefined();
  });

  it("keeps what will run in sight in a low and narrow terminal", () => {
    const long = { ...approval, argumentsText: JSON.stringify({ text: "word ".repeat(300) }) };
    const rows = promptRows(openPrompt(long), { ...view, columns: 49, height: 18 });
    expect(rows.length).toBeLessThanOrEqual(15);
    expect(rows[0]).toContain("pay asks for approval");
    expect(rows.join(" ")).toMatch(
      /"text": "word[\s\S]*a allow once · c always in this\s+conversation ·\s+o always in/,
    );
  });

  it("shows arguments as data: escaped, folded so that the choices stay in sight, and whole on demand", () => {
    const argumentsText = JSON.stringify({ path: "a\u202Eb\u001B[2J", text: "x".repeat(1_000_000) });
    const hostile = { ...approval, toolName: "pay\u202E", argumentsText };
    const rows = promptRows(openPrompt(hostile), view);
    const shown = rows.join("\n");
    // The line, the hints and the terminal's last row come below it.
    expect(rows.length).toBeLessThanOrEqual(view.height - 3);
    expect(shown).toContain('"path": "a\\u202eb\\u001b[2J"');
    expect(shown).toMatch(/… \d+ more characters are not shown/);
    expect(shown).toContain("view all");
    expect(shown).toBe(safeText(shown));
    expect(enter(openPrompt(hostile), "v").action).toEqual({ type: "show" });
    expect(enter(openPrompt(hostile), "e").prompt.notice).toContain("--args-file");
  });
});

describe("a prompt for a question", () => {
  const value = (request: PendingRequest, text: string) => {
    const { action } = enter(openPrompt(request), text);
    return action?.type === "respond" ? action.response.value : undefined;
  };

  it("takes an option by its number or as it is, and nothing else", () => {
    expect(promptRows(openPrompt(question), view).join("\n")).toMatch(
      /Tea or coffee\?\n +1 {2}tea\n +2 {2}coffee/,
    );
    expect(value(question, "2")).toBe("coffee");
    expect(value(question, "tea")).toBe("tea");
    expect(enter(openPrompt(question), "a").prompt.notice).toContain("Choose one");
  });

  it("takes any text where the answer is one, also a letter that decides elsewhere", () => {
    const open = { ...question, schema: { type: "string" } };
    expect(value(open, "a")).toBe("a");
    expect(value(open, "1")).toBe("1");
    expect(enter(openPrompt(open), "/deny").action).toEqual({
      type: "respond",
      response: { decision: "deny" },
    });
  });

  it("takes JSON where the answer has another form", () => {
    const number = { ...question, schema: { type: "integer" } };
    expect(value(number, "3")).toBe(3);
    expect(enter(openPrompt(number), "three").prompt.notice).toContain("JSON");
  });
});
