import { ParleyRequestError } from "@parley/client";
import { describe, expect, it } from "vitest";
import { compactionProblem, previewWords, resultWords } from "./compaction-words.js";

const refused = (code: ParleyRequestError["code"]) => new ParleyRequestError(code, "as the server says it");

describe("compactionProblem", () => {
  it("says what to do while a turn runs", () => {
    expect(compactionProblem(refused("turn_active"), 10)).toMatchObject({ tone: "notice" });
    expect(compactionProblem(refused("turn_active"), 10).text).toContain("stop it");
  });

  it("suggests keeping fewer messages only where that can help", () => {
    expect(compactionProblem(refused("nothing_to_compact"), 10).text).toContain("Keep fewer");
    expect(compactionProblem(refused("nothing_to_compact"), 0).text).not.toContain("Keep fewer");
  });

  it("shows the server's message of a failure, and nothing of an error that is not the server's", () => {
    expect(compactionProblem(refused("provider_auth"), 10)).toMatchObject({
      tone: "failure",
      text: "as the server says it",
    });
    expect(compactionProblem(new TypeError("x is undefined"), 10).text).not.toContain("undefined");
  });
});

describe("previewWords", () => {
  it("counts what is covered and what is kept", () => {
    const preview = {
      messagesSummarized: 12,
      messagesKept: 1,
      firstSeq: 1,
      lastSeq: 20,
      estimatedTokens: 3_400,
    };
    expect(previewWords(preview, 1)).toBe(
      "A summary will stand in for 12 messages, about 3,400 tokens. The newest message stays as it is.",
    );
    expect(previewWords({ ...preview, messagesKept: 0 }, 0)).toContain("No message stays as it is.");
    expect(resultWords({ messagesSummarized: 1, messagesKept: 10 }, 10)).toBe(
      "A summary stands in for 1 message. The newest 10 messages stay as they are.",
    );
  });

  it("says why more messages are kept than requested", () => {
    expect(resultWords({ messagesSummarized: 20, messagesKept: 15 }, 10)).toBe(
      "A summary stands in for 20 messages. The newest 15 messages stay as they are, more than 10, since the calls of tools and their results are never separated.",
    );
  });
});
