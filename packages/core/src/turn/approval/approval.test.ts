import { describe, expect, it } from "vitest";
import { type ApprovalContext, type ApprovalRule, approvalNeed, mayNeedApproval } from "./approval.js";
import { matchesArguments, matchesGlob } from "./match-arguments.js";

const context: ApprovalContext = {
  conversationId: "c",
  turnId: "t",
  stepId: "t.0",
  toolCallId: "a",
  toolName: "bank__pay",
  owner: "ann",
};

const need = (approval: Parameters<typeof approvalNeed>[0]["approval"], ...rules: ApprovalRule[]) =>
  approvalNeed(
    approval === undefined ? {} : { approval },
    { amount: 5, to: { name: "bob" } },
    context,
    rules,
  );

describe("the approval rule of a tool", () => {
  it("is not asked for by default, and as the tool says otherwise", async () => {
    expect(await need(undefined)).toBeUndefined();
    expect(await need("never")).toBeUndefined();
    expect(await need("once")).toEqual({ approval: "once", isGrantable: true });
    expect(await need(() => ({ approval: "always", reason: "much" }))).toEqual({
      approval: "always",
      reason: "much",
      isGrantable: true,
    });
    expect(
      await need((input: { amount: number }) => (input.amount > 9 ? "always" : "never")),
    ).toBeUndefined();
  });

  it("asks when it throws or answers with no word of the list", async () => {
    const failed = { approval: "always", isGrantable: false, reason: "The tool's approval rule failed" };
    expect(await need(() => Promise.reject(new Error("down")))).toEqual(failed);
    expect(await need((() => "perhaps") as never)).toEqual(failed);
    expect(await need((() => undefined) as never)).toEqual(failed);
  });
});

describe("a rule of the host", () => {
  it("makes a tool stricter and never laxer", async () => {
    expect(await need("always", { tool: "*", approval: "never" })).toMatchObject({ approval: "always" });
    expect(await need("always", { tool: "*", approval: "once" })).toEqual({
      approval: "always",
      isGrantable: true,
    });
    expect(await need("never", { tool: "bank__*", approval: "once" })).toMatchObject({ approval: "once" });
    expect(await need("once", { tool: "*pay", approval: "always", reason: "money" })).toEqual({
      approval: "always",
      isGrantable: false,
      reason: "money",
    });
  });

  it("applies to the tools, owners and arguments that it names", async () => {
    const rule = { tool: "*", approval: "always" } as const;
    expect(await need("never", { ...rule, tool: "bank" })).toBeUndefined();
    expect(await need("never", { ...rule, owner: "b*" })).toBeUndefined();
    expect(await need("never", { ...rule, owner: "a*n" })).toBeDefined();
    expect(await need("never", { ...rule, where: { "to.name": "b*b", amount: 5 } })).toBeDefined();
    expect(await need("never", { ...rule, where: { "to.name": "carl" } })).toBeUndefined();
    expect(await need("never", { ...rule, where: { "to.age": 5 } })).toBeUndefined();
  });

  it("makes calls of tools that it does not name no slower", () => {
    expect(mayNeedApproval({ name: "time" }, [{ tool: "bank*", approval: "always" }])).toBe(false);
    expect(mayNeedApproval({ name: "bank" }, [{ tool: "bank*", approval: "always" }])).toBe(true);
    expect(mayNeedApproval({ name: "time", approval: () => "never" }, [])).toBe(true);
  });
});

describe("a pattern", () => {
  it("takes * for any characters, and each other character for itself", () => {
    expect(matchesGlob("a*b*c", "a.b.b.c")).toBe(true);
    expect(matchesGlob("a*b*c", "acb")).toBe(false);
    expect(matchesGlob("ab*ba", "aba")).toBe(false);
    expect(matchesGlob("a.c", "abc")).toBe(false);
    expect(matchesGlob("*", "")).toBe(true);
    expect(matchesGlob("", "x")).toBe(false);
  });

  it("finds only own members of the arguments", () => {
    expect(matchesArguments({ constructor: "*" }, {})).toBe(false);
    expect(matchesArguments({ "list.0": "a" }, { list: ["a"] })).toBe(true);
    expect(matchesArguments({ deep: { b: 1, a: 2 } }, { deep: { a: 2, b: 1 } })).toBe(true);
    expect(matchesArguments({ a: "1" }, "text")).toBe(false);
  });
});
