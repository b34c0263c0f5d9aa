import { describe, expect, it } from "vitest";
import { isPicture, kindWord, shownName, splitName, thumbnailAddresses } from "./file-kinds.js";

const file = (mediaType: string, size: number) => ({ mediaType, size, seq: 7, hash: "" });

describe("a file on the page", () => {
  it("has a name in which every character is visible, of a bounded length", () => {
    expect(shownName("invoice\u202Efdp.exe")).toBe("invoice\uFFFDfdp.exe");
    expect(shownName("a\u0000b\nc\u200B.txt")).toBe("a\uFFFDb c\uFFFD.txt");
    expect(shownName(" \n ")).toBe("file");
    expect(shownName(undefined)).toBe("file");
    expect(shownName("x".repeat(5_000)).length).toBeLessThan(400);
  });

  it("keeps the extension of its name visible, and splits no character", () => {
    expect(splitName("short.png")).toEqual(["short.png", ""]);
    expect(splitName(`${"a".repeat(40)}.png`)).toEqual(["a".repeat(36), "aaaa.png"]);
    expect(splitName("\u{1F600}".repeat(30)).join("")).toBe("\u{1F600}".repeat(30));
  });

  it("is drawn in place only if it is a picture in which nothing runs, and not too large", () => {
    expect(isPicture(file("image/gif", 1_000))).toBe(true);
    expect(isPicture(file("image/svg+xml", 1_000))).toBe(false);
    expect(isPicture(file("image/gif", 20_000_000))).toBe(false);
    expect(isPicture(file("image/jpeg", 20_000_000))).toBe(true);
    expect(isPicture(file("image/jpeg", 60_000_000))).toBe(false);
  });

  it("is drawn from its thumbnail if there may be one, and from itself if there is none", () => {
    expect(thumbnailAddresses("c/1", file("image/png", 200_000))).toEqual([
      "/conversations/c%2F1/files/7?variant=thumbnail",
      "/conversations/c%2F1/files/7",
    ]);
    expect(thumbnailAddresses("c", file("image/png", 20_000_000))).toEqual([
      "/conversations/c/files/7?variant=thumbnail",
    ]);
    expect(thumbnailAddresses("c", file("image/png", 2_000))).toEqual(["/conversations/c/files/7"]);
    expect(thumbnailAddresses("c", file("image/gif", 200_000))).toEqual(["/conversations/c/files/7"]);
    expect(thumbnailAddresses("c", file("text/plain", 200))).toEqual([]);
  });

  it("has a kind in one word", () => {
    const kinds = ["image/png", "application/pdf", "text/csv", "application/zip", "application/x-thing"];
    expect(kinds.map(kindWord)).toEqual(["Image", "PDF", "Text", "Archive", "File"]);
  });
});
