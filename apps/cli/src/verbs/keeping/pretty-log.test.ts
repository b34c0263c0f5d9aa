import { describe, expect, it } from "vitest";
import { createStyle } from "../../terminal/style.js";
import { prettyLogLine } from "./pretty-log.js";

const style = createStyle(false);
const time = "2026-01-02T03:04:05.000Z";

describe("a line of the log for people", () => {
  it("shows a request on one line", () => {
    const line = JSON.stringify({
      level: 30,
      time,
      method: "GET",
      route: "GET /conversations",
      status: 404,
      durationMs: 3,
      code: "conversation_not_found",
      msg: "request",
    });
    expect(prettyLogLine(line, style)).toMatch(
      /^\d\d:\d\d:\d\d 404 GET \/conversations 3 ms conversation_not_found$/,
    );
  });

  it("shows other events with what is known of them, safely", () => {
    const line = JSON.stringify({ level: 50, time, msg: "it failed\u001B[2J", where: "journal" });
    expect(prettyLogLine(line, style)).toMatch(/^\d\d:\d\d:\d\d it failed where=journal$/);
  });

  it("lets through what is no JSON", () => {
    expect(prettyLogLine("plain\n", style)).toBe("plain");
  });
});
