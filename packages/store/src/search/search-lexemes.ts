import type { WantedTerm } from "@parley/core/messages";
import { searchedBytes, searchTerms } from "@parley/core/messages";

/**
 * The text of a message `m` that a search looks at, as the database holds it. As many characters as it has bytes, for a
 * character is at least one; the rest is cut where the text is read.
 */
export const searchText = `left(coalesce((
  SELECT string_agg(left(p.part->>'text', ${searchedBytes}), ' ' ORDER BY p.place)
  FROM jsonb_array_elements(CASE jsonb_typeof(m.content->'parts') WHEN 'array' THEN m.content->'parts' ELSE '[]' END)
    WITH ORDINALITY AS p(part, place)
  WHERE p.part->>'type' = 'text'),
  CASE jsonb_typeof(m.content->'content') WHEN 'string' THEN m.content->>'content' END, ''), ${searchedBytes})`;

/** A text's terms as the lexemes of one owner, in order and each once. */
export function lexemesOf(owner: number, text: string): string[] {
  const lexemes = new Set<string>();
  for (const { term } of searchTerms(text)) lexemes.add(lexeme(owner, term));
  return [...lexemes];
}

/** Lexemes as the text of a `tsvector`. */
export function vectorText(lexemes: readonly string[]): string {
  return lexemes.map(quoted).join(" ");
}

/** What an owner's query asks for, as the text of a `tsquery`. */
export function queryText(owner: number, wanted: readonly WantedTerm[]): string {
  return wanted
    .map(({ term, isPrefix }) => `${quoted(lexeme(owner, term))}${isPrefix ? ":*" : ""}`)
    .join(" & ");
}

/** Another owner's number followed by another term is never the same: no number has a colon. */
function lexeme(owner: number, term: string): string {
  return `${owner.toString(36)}:${term}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
