const longestName = 200;

/**
 * Characters that change how a name is read or shown: controls, bidirectional marks, invisible ones, lone surrogates.
 */
const hiddenCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Returns the name of a file as it is stored and shown: without folders, without characters that hide or reverse what
 * follows, of a bounded length, and never empty. The extension of a long name stays, because it identifies the type
 * of the file.
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
