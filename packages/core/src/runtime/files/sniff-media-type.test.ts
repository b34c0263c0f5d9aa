import { describe, expect, it } from "vitest";
import { sniffMediaType } from "./sniff-media-type.js";

/** Returns the bytes of a text, each character one byte. */
const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

describe("the type of a file", () => {
  it.each([
    ["\x89PNG\r\n\x1a\n rest", "a.txt", "image/png"],
    ["\xff\xd8\xff\xe0 rest", "a.html", "image/jpeg"],
    ["GIF89a<script>alert(1)</script>", "a.gif", "image/gif"],
    ["RIFF\0\0\0\0WEBPVP8 ", "a", "image/webp"],
    ["RIFF\0\0\0\0AVI ", "a.png", "application/octet-stream"],
    ["\0\0\0\x1cftypavif", "a", "image/avif"],
    ["\0\0\0\x1cftypisom", "a", "video/mp4"],
    ["%PDF-1.7\n", "report.png", "application/pdf"],
    [
      "PK\x03\x04 rest",
      "report.docx",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
    ["PK\x03\x04 rest", "report.html", "application/zip"],
    ["\x7fELF\x02\x01", "a.png", "application/octet-stream"],
    ["MZ\x90\0", "a.txt", "application/octet-stream"],
    ["BM\0\0\0\0", "a", "image/bmp"],
  ])("is what its bytes say, whatever its name is: %j", (content, name, type) => {
    expect(sniffMediaType(bytes(content), name)).toBe(type);
  });

  it.each([
    ["hello", "a.txt", "text/plain"],
    ["hello", "a.png", "text/plain"],
    ["BMW builds cars", "a", "text/plain"],
    ["# Title", "a.md", "text/markdown"],
    ["a,b\n1,2", "a.CSV", "text/csv"],
    ['{"a": 1}', "a.json", "application/json"],
    ["", "a.md", "text/markdown"],
    ["", "nothing", "text/plain"],
  ])("of text is chosen by its name: %j in %s", (content, name, type) => {
    expect(sniffMediaType(bytes(content), name)).toBe(type);
  });

  it.each([
    ["<!DOCTYPE html><p>hi", "text/html"],
    ["  <HTML>", "text/html"],
    ["some words first\n<script src=x></script>", "text/html"],
    ['<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">', "image/svg+xml"],
    ["<svg onload=alert(1)>", "image/svg+xml"],
    ["<?xml version='1.0'?><a/>", "application/xml"],
  ])("of what a browser would run is never a harmless one: %j", (content, type) => {
    for (const name of ["a.txt", "a.md", "a.json", "a"])
      expect(sniffMediaType(bytes(content), name)).toBe(type);
  });

  it("does not depend on where the first bytes are cut", () => {
    const text = new TextEncoder().encode("ä€😀");
    for (let end = 1; end <= text.length; end += 1) {
      expect(sniffMediaType(text.subarray(0, end), "a.txt")).toBe("text/plain");
    }
  });
});
