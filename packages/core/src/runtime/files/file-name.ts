const longestName = 200;

/** Characters that change how a name is read or shown: controls, bidirectional marks, invisible ones, broken halves. */
const hiddenCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * The name of a file as it is kept and shown: without folders, without characters that hide or turn what follows, of a
 * bounded length, and never empty. The ending of a long name stays, because it says what the file is.
 */
export function cleanFileName(name: string): string {
  const last = name.replace(hiddenCharacters, "").split(/[/\\]/).at(-1) ?? "";
  const clean = last.replace(/\s+/g, " ").trim();
  if (clean === "" || clean === "." || clean === "..") return "file";
  const characters = [...clean];
  if (characters.length <= longestName) return clean;
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(clean)?.[0] ?? "";
  return characters.slice(0, longestName - ending.length).join("") + ending;
}
