import { expect, it } from "vitest";
import { safeHref } from "./safe-link.js";

it.each([
  ["https://example.com/a?b#c", "https://example.com/a?b#c"],
  ["http://example.com", "http://example.com/"],
  ["mailto:someone@example.com", "mailto:someone@example.com"],
])("follows %s", (address, href) => expect(safeHref(address)).toBe(href));

it.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,<script>1</script>",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:https://example.com/1",
  "/keys",
  "#top",
  "//example.com",
  "",
  undefined,
  7,
])("does not follow %s", (address) => expect(safeHref(address)).toBeUndefined());
