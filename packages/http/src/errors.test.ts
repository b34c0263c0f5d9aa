import { describe, expect, it, vi } from "vitest";
import { HttpError, TimeoutError } from "./errors.js";

describe("errors", () => {
  it("are recognised when a second copy of the package made them", async () => {
    vi.resetModules();
    const other = await import("./errors.js");
    const foreign = new other.TimeoutError("late", "stall", {});
    expect(foreign).not.toBeInstanceOf(HttpError);
    expect(HttpError.isInstance(foreign)).toBe(true);
    expect(TimeoutError.isInstance(foreign)).toBe(true);
  });

  it("are distinguished from other values, and a TimeoutError from other failures", () => {
    const failure = new HttpError("no", { status: 500, category: "transient" });
    expect(HttpError.isInstance(failure)).toBe(true);
    expect(TimeoutError.isInstance(failure)).toBe(false);
    for (const value of [undefined, null, "HttpError", new Error("HttpError"), { name: "HttpError" }]) {
      expect(HttpError.isInstance(value)).toBe(false);
    }
  });

  it("count a passed deadline as final and the other timeouts as worth a retry", () => {
    const retryable = (kind: "attempt" | "overall" | "stall") => new TimeoutError("t", kind, {}).retryable;
    expect([retryable("attempt"), retryable("stall"), retryable("overall")]).toEqual([true, true, false]);
  });
});
