/** File extensions by language, as fences name it. */
const endings: Readonly<Record<string, string>> = {
  bash: "sh",
  "c++": "cpp",
  console: "sh",
  csharp: "cs",
  golang: "go",
  javascript: "js",
  kotlin: "kt",
  markdown: "md",
  mermaid: "mmd",
  perl: "pl",
  plaintext: "txt",
  powershell: "ps1",
  python: "py",
  ruby: "rb",
  rust: "rs",
  shell: "sh",
  text: "txt",
  typescript: "ts",
  yaml: "yml",
  zsh: "sh",
};

const wholeNames: Readonly<Record<string, string>> = { dockerfile: "Dockerfile", makefile: "Makefile" };
/** A first line that names the file, as models often write it. */
const named =
  /^\s*(?:\/\/|#|--|;|\/\*|<!--)\s*(?:file(?:name)?:\s*)?(?:[\w.-]+\/)*([\w-][\w.-]*\.[a-z\d]{1,8})\s*(?:\*\/|-->)?\s*$/i;

/** Returns the name under which code is saved: the one in its first line, or one with the extension of its language. */
export function codeFileName(language: string, code: string): string {
  const end = code.indexOf("\n");
  const given = named.exec(code.slice(0, Math.min(200, end === -1 ? 200 : end)))?.[1];
  if (given !== undefined) return given;
  const name = language.toLowerCase();
  const whole = Object.hasOwn(wholeNames, name) ? wholeNames[name] : undefined;
  if (whole !== undefined) return whole;
  const ending = Object.hasOwn(endings, name)
    ? endings[name]
    : /^[a-z\d]{1,10}$/.test(name)
      ? name
      : undefined;
  return `code.${ending ?? "txt"}`;
}
