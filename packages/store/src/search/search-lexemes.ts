import type { WantedTerm } from "@parley/core/messages";
import { searchedBytes, searchTerms } from "@parley/core/messages";

/**
 * Text of a message `m` that is searched, as the database holds it. The limit of bytes is used as a number of
 * characters, because a character has at least one byte; the rest is cut where the text is read.
 */
export const searchText = `left(coalesce((
  SELECT string_agg(left(p.part->>'text', ${searchedBytes}), ' ' ORDER BY p.place)
  FROM jsonb_array_elements(CASE jsonb_typeof(m.content->'parts') WHEN 'array' THEN m.content->'parts' ELSE '[]' END)
    WITH ORDINALITY AS p(part, place)
  WHERE p.part->>'type' = 'text'),
  CASE jsonb_typeof(m.content->'content') WHEN 'string' THEN m.content->>'content' END, ''), ${searchedBytes})`;

/** Returns a text's terms as the lexemes of one owner, in order and each once. */
export function lexemesOf(owner: number, text: string): string[] {
  const lexemes = new Set<string>();
  for (const { term } of searchTerms(text)) lexemes.add(lexeme(owner, term));
  return [...lexemes];
}

/** Returns lexemes as the text of a `tsvector`. */
export function vectorText(lexemes: readonly string[]): string {
  return lexemes.map(quoted).join(" ");
}

/** Returns an owner's query as the text of a `tsquery`. */
export function queryText(owner: number, wanted: readonly WantedTerm[]): string {
  return wanted
    .map(({ term, isPrefix }) => `${quoted(lexeme(owner, term))}${isPrefix ? ":*" : ""}`)
    .join(" & ");
}

/**
 * Joins an owner's number and a term. Another owner's number with another term never gives the same: no number has a
 * colon.
 */
function lexeme(owner: number, term: string): string {
  return `${owner.toString(36)}:${term}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
