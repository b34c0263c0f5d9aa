import type { FileContentPart } from "@parley/core/messages";
import { describe, expect, it } from "vitest";
import { fileNoteText, namedText, readFile } from "./read-file.js";

const file = (fields: Partial<FileContentPart>): FileContentPart => ({
  type: "file",
  mediaType: "",
  ...fields,
});

describe("readFile", () => {
  it("identifies the types that models of any provider read", () => {
    const kinds = ["image/png", "IMAGE/JPG", "image/tiff", "application/pdf", "text/csv", "model/x+json", ""];
    expect(kinds.map((mediaType) => readFile(file({ mediaType })).kind)).toEqual([
      "image",
      "image",
      "other",
      "pdf",
      "text",
      "text",
      "other",
    ]);
    expect(readFile(file({ mediaType: "IMAGE/JPG" })).mediaType).toBe("image/jpeg");
  });

  it("pads base64, and omits invalid base64", () => {
    expect(readFile(file({ data: "YQ" })).data).toBe("YQ==");
    expect(readFile(file({ data: "YWI=" })).data).toBe("YWI=");
    for (const data of ["", "a", "a:b", "%%%%"]) expect(readFile(file({ data })).data).toBeUndefined();
  });

  it("reads bytes and type from a data URL if the part has none", () => {
    const url = "data:image/png;base64,YQ==";
    expect(readFile(file({ url }))).toEqual({ kind: "image", mediaType: "image/png", data: "YQ==" });
    expect(readFile(file({ url, mediaType: "image/gif", data: "Yg==" }))).toEqual({
      kind: "image",
      mediaType: "image/gif",
      data: "Yg==",
    });
  });

  it("accepts only web addresses, also beside invalid bytes", () => {
    expect(readFile(file({ url: "https://example.com/a", data: "?" })).url).toBe("https://example.com/a");
    for (const url of ["file:///etc/passwd", "https://a b", "https://[", "data:,x"]) {
      expect(readFile(file({ url })).url).toBeUndefined();
    }
  });
});

describe("a file as text", () => {
  it("has its name, its type and its address", () => {
    expect(fileNoteText(file({ filename: "a.bin" }))).toBe("[File a.bin (unknown type) cannot be shown]");
    expect(fileNoteText(file({ mediaType: "audio/wav", url: "https://example.com/a" }))).toBe(
      "[File (audio/wav, https://example.com/a) cannot be shown]",
    );
  });

  it("is its content if it is a text file", () => {
    expect(namedText(file({ filename: "ü\ud800" }), btoa("# Notes"))).toBe("File ü\ufffd:\n\n# Notes");
  });
});
