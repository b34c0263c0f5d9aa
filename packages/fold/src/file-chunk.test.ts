import { describe, expect, it } from "vitest";
import { fileChunk, sizeText } from "./file-chunk.js";

describe("the chunk of a file", () => {
  it("names the file, its type and its size in its text", () => {
    const file = { name: "cat.png", mediaType: "image/png", size: 12_345, hash: "0".repeat(64) };
    expect(fileChunk(file)).toEqual({ type: "text", text: "[cat.png, image/png, 12 KB]", file });
  });

  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [1023, "1023 bytes"],
    [1024, "1 KB"],
    [1536, "1.5 KB"],
    [1_048_575, "1 MB"],
    [100 * 2 ** 20, "100 MB"],
    [3 * 2 ** 40, "3072 GB"],
  ])("writes %i bytes as %s", (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});
