import { describe, expect, it } from "vitest";
import { timeTool } from "./time.js";
import { callTool } from "./tool-call.test-support.js";

const tool = timeTool({ now: () => new Date("2026-11-15T12:00:00Z") });

describe("current_time", () => {
  it("returns the time in UTC and in a time zone", async () => {
    const utc = await callTool(tool, {});
    expect(JSON.parse(utc.content)).toMatchObject({ iso: "2026-11-15T12:00:00.000Z", timeZone: "UTC" });
    const berlin = await callTool(tool, { timeZone: "Europe/Berlin" });
    expect(berlin.content).toContain("13:00:00");
  });

  it("reports to the model what is wrong with a time zone", async () => {
    const result = await callTool(tool, { timeZone: "Mars/Olympus" });
    expect(result.isError).toBe(true);
    expect(result.content).toContain('"Mars/Olympus" is not an IANA time zone');
  });
});
