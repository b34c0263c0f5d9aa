import { describe, expect, it } from "vitest";
import { codePointName, codePointWords, visibleRuns } from "./visible-text.js";

const shown = (text: string) =>
  visibleRuns(text)
    .map((run) => ("text" in run ? run.text : `<${codePointName(run.hidden)}>`))
    .join("");

describe("text that is shown as data", () => {
  it("stays as it is if everything in it is visible", () => {
    const text = "Grüße, 你好, שלום 123\n\tпривет 🙂 <b>&amp;";
    expect(visibleRuns(text)).toEqual([{ text }]);
    expect(visibleRuns("")).toEqual([]);
  });

  it("shows characters that would be invisible, or would reverse the text around them", () => {
    expect(shown("rm \u202Etxt.exe\u202C")).toBe("rm <U+202E>txt.exe<U+202C>");
    expect(shown("a\u0000b\rc\u001b[2Jd\u007f\u0085")).toBe(
      "a<U+0000>b<U+000D>c<U+001B>[2Jd<U+007F><U+0085>",
    );
    expect(shown("pay\u200Bpal\u2066\u2069\uFEFF\u00AD")).toBe(
      "pay<U+200B>pal<U+2066><U+2069><U+FEFF><U+00AD>",
    );
    expect(shown("x\u2028y\u{E0041}\u3164\uE000")).toBe("x<U+2028>y<U+E0041><U+3164><U+E000>");
    expect(shown("half \uD83D of a pair")).toBe("half <U+D83D> of a pair");
  });

  it("names what it shows", () => {
    expect([0x202e, 0x03, 0xe0041].map(codePointWords)).toEqual([
      "right-to-left override",
      "control character",
      "invisible character",
    ]);
  });
});
