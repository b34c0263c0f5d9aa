import { describe, expect, it } from "vitest";
import { asCalled, calledAs } from "./called-as.js";

describe("the command that calls parley again", () => {
  it("is its name, what npx needs, what a package script's folder has, or what the starting script says", () => {
    expect(calledAs({})).toBe("parley");
    expect(calledAs({ npm_command: "exec", npm_lifecycle_event: "npx" })).toBe("npx @parley/cli");
    expect(calledAs({ npm_command: "run-script", npm_lifecycle_event: "server" })).toBe("npx parley");
    expect(calledAs({ npm_command: "start", PARLEY_COMMAND: "npm run parley --" })).toBe("npm run parley --");
  });

  it("replaces the name in commands, and in nothing else", () => {
    const env = { PARLEY_COMMAND: "npm run parley --" };
    expect(asCalled("`parley ls` shows what parley has.", env)).toBe(
      "`npm run parley -- ls` shows what parley has.",
    );
  });
});
