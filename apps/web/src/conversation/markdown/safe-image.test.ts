import { expect, it } from "vitest";
import { imageSource } from "./safe-image.js";

const origin = "https://parley.example";
const kindOf = (address: string) => imageSource(address, origin)?.kind;

it.each([
  "data:image/png;base64,iVBORw0KGgo=",
  "data:image/webp;base64,AAAA",
  "blob:https://parley.example/0b1e",
  "/conversations/c1/files/12",
  "/files/f-1",
  "https://parley.example/conversations/c1/files/12",
])("shows %s at once", (address) => expect(kindOf(address)).toBe("own"));

it.each(["https://pictures.example/a.png", "https://pictures.example:8443/a?b=c"])(
  "shows %s when it is asked for",
  (address) => expect(kindOf(address)).toBe("remote"),
);

it.each([
  "data:image/svg+xml;base64,AAAA",
  "data:image/svg+xml,<svg onload=alert(1)>",
  "data:text/html;base64,AAAA",
  "data:image/png,not base64",
  `data:image/png;base64,${"A".repeat(6_000_001)}`,
  "blob:https://evil.example/1",
  "http://pictures.example/a.png",
  "https://user:secret@pictures.example/a.png",
  "//evil.example/a.png",
  "/logout",
  "/conversations/c1",
  "/conversations/../files/1",
  "/files/../keys",
  "/conversations/%2e%2e/files/1",
  "https://parley.example/files/%2e%2e",
  "https://parley.example/keys",
  "javascript:alert(1)",
  "file:///etc/passwd",
  "",
])("never loads %s", (address) => expect(kindOf(address)).toBeUndefined());
