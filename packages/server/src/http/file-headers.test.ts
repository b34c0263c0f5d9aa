import { describe, expect, it } from "vitest";
import { fileHeaders } from "./file-headers.js";

const headersOf = (mediaType: string, name = "a") => fileHeaders({ name, mediaType, hash: "00" });

describe("the headers of a file", () => {
  it.each(["image/png", "image/jpeg", "text/plain", "application/json", "audio/mpeg"])(
    "show %s in place",
    (type) => {
      expect(headersOf(type)["content-disposition"]).toMatch(/^inline;/);
      expect(headersOf(type)["content-type"]).toMatch(new RegExp(`^${type}`));
    },
  );

  it.each([
    "text/html",
    "image/svg+xml",
    "application/xhtml+xml",
    "application/xml",
    "text/xml",
    "text/javascript",
  ])("never send %s as what it is, nor show it", (type) => {
    expect(headersOf(type)["content-disposition"]).toMatch(/^attachment;/);
    expect(headersOf(type)["content-type"]).toBe("application/octet-stream");
  });

  it.each(["application/pdf", "application/zip", "application/octet-stream"])("let %s be saved", (type) => {
    expect(headersOf(type)["content-disposition"]).toMatch(/^attachment;/);
  });

  it("keep a name of any characters within its parameter", () => {
    const { "content-disposition": header } = headersOf("image/png", `a"; x=\\y\r\n%41 'ä' (日).png`);
    expect(header).toBe(
      `inline; filename="a_; x=_y___41 '_' (_).png"; filename*=UTF-8''a%22%3B%20x%3D%5Cy%0D%0A%2541%20%27%C3%A4%27%20%28%E6%97%A5%29.png`,
    );
    expect(headersOf("image/png", "\ud800")["content-disposition"]).toContain("UTF-8''%EF%BF%BD");
  });

  it("sandbox whatever is opened as a page", () => {
    expect(headersOf("image/png")["content-security-policy"]).toMatch(/default-src 'none'.*; sandbox;/);
  });
});
