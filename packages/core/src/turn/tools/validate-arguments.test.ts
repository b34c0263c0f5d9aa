import { describe, expect, it } from "vitest";
import type { StandardSchema, Tool } from "./tool.js";
import { validateArguments } from "./validate-arguments.js";

const weather = {
  name: "weather",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

function standard(validate: StandardSchema["~standard"]["validate"]) {
  return {
    name: "own",
    schema: { "~standard": { version: 1, vendor: "test", validate } } as StandardSchema<never>,
  };
}

describe("validateArguments", () => {
  it("hands over the parsed arguments", async () => {
    expect(await validateArguments(weather, '{"city":"Oslo"}')).toEqual({
      ok: true,
      value: { city: "Oslo" },
    });
  });

  it("takes the call itself as well as its text", async () => {
    const call = { arguments: {}, argumentsText: '{"city":"Oslo"}' };
    expect(await validateArguments(weather, call)).toEqual({ ok: true, value: { city: "Oslo" } });
    expect(await validateArguments(weather, { arguments: { city: "Rome" } })).toEqual({
      ok: true,
      value: { city: "Rome" },
    });
  });

  it("reads an empty text as no arguments", async () => {
    expect(await validateArguments({ name: "time" }, "")).toEqual({ ok: true, value: {} });
  });

  it("names the problem of malformed JSON", async () => {
    const result = await validateArguments(weather, '{"city": "Os');
    expect(result).toMatchObject({ ok: false });
    expect(result.ok ? "" : result.message).toMatch(/"weather" was not run.*\n- .*not valid JSON: .+/);
  });

  it("reports to the model what was wrong and where", async () => {
    expect(await validateArguments(weather, '{"city":5}')).toEqual({
      ok: false,
      message:
        'The call of "weather" was not run because its arguments are not valid:\n- /city: must be a string, got number',
    });
    const whole = await validateArguments(weather, "[]");
    expect(whole.ok ? "" : whole.message).toContain("(the whole value): must be an object, got array");
  });

  it("passes on what a Standard Schema makes of the value", async () => {
    const tool = standard(async (value) => ({ value: { seen: value } }));
    expect(await validateArguments(tool, '{"a":1}')).toEqual({ ok: true, value: { seen: { a: 1 } } });
  });

  it("reports the issues of a Standard Schema with their paths", async () => {
    const tool = standard(() => ({
      issues: [{ message: "too small", path: ["a", { key: 0 }] }, { message: "bad" }],
    }));
    const result = await validateArguments(tool, "{}");
    expect(result.ok ? "" : result.message).toContain("- /a/0: too small\n- (the whole value): bad");
  });

  it("answers with a message when the validator throws or rejects", async () => {
    const throws = standard(() => {
      throw new Error("no such rule");
    });
    const rejects = standard(() => Promise.reject(new Error("no such rule")));
    for (const tool of [throws, rejects]) {
      const result = await validateArguments(tool, "{}");
      expect(result.ok ? "" : result.message).toContain("could not be checked: no such rule");
    }
  });
});

describe("a list of tools", () => {
  it("takes tools of any input type", () => {
    const add: Tool<{ a: number }> = { name: "add", execute: ({ a }) => a + 1 };
    const tools: readonly Tool<never>[] = [add];
    expect(tools).toHaveLength(1);
  });
});
