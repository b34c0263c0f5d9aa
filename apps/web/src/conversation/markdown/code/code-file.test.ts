import { expect, it } from "vitest";
import { codeFileName } from "./code-file.js";

it.each([
  ["ts", "const a = 1;", "code.ts"],
  ["python", "print(1)", "code.py"],
  ["python", "# src/tools/main.py\nprint(1)", "main.py"],
  ["html", "<!-- index.html -->\n<p>", "index.html"],
  ["ts", "// file: ../../etc/passwd.ts", "passwd.ts"],
  ["dockerfile", "FROM node", "Dockerfile"],
  ["", "words", "code.txt"],
  ["a/b", "words", "code.txt"],
  ["constructor", "words", "code.txt"],
])("names code in %j %j as %s", (language, code, name) => expect(codeFileName(language, code)).toBe(name));
