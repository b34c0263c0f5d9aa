/** Colours code of a language; gives it back without them where the language is not known. */
export type Highlight = (code: string, language: string) => string;

/** Loads what colours code. A few hundred milliseconds of work, so only where someone will see it. */
export async function loadHighlighter(): Promise<Highlight> {
  const [{ Marked }, { markedTerminal }] = await Promise.all([import("marked"), import("marked-terminal")]);
  const marked = new Marked(markedTerminal({ tab: 0, reflowText: false }, { ignoreIllegals: true }));
  return (code, language) => {
    const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((ticks) => ticks.length));
    const fence = "`".repeat(longest + 1);
    try {
      const coloured = marked.parse(`${fence}${language}\n${code}\n${fence}`, { async: false });
      return coloured.replace(/^\n+|\n+$/g, "");
    } catch {
      return code;
    }
  };
}
