import { snippetParts } from "./snippet-parts.js";

const highlightName = "search-match";
const mostMatches = 200;

/**
 * Marks the words of a query in the text of an element, without changing its nodes. Returns the number of matches; 0 if
 * the browser does not support it.
 */
export function highlightWords(element: Element, query: string): number {
  if (typeof Highlight === "undefined" || CSS.highlights === undefined) return 0;
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < mostMatches; node = walker.nextNode()) {
    const text = node.nodeValue ?? "";
    if (text.trim() === "") continue;
    for (const part of matchesIn(text, query)) {
      const range = new Range();
      range.setStart(node, part.start);
      range.setEnd(node, part.end);
      ranges.push(range);
    }
  }
  if (ranges.length > 0) CSS.highlights.set(highlightName, new Highlight(...ranges));
  return ranges.length;
}

/** Removes the marks. */
export function clearHighlight(): void {
  if (typeof CSS !== "undefined") CSS.highlights?.delete(highlightName);
}

/** Returns the places of the words of a query in a text as it is written. */
export function matchesIn(
  text: string,
  query: string,
): readonly { readonly start: number; readonly end: number }[] {
  // The parts are those of the text with its white space collapsed: each match is searched for from the end of the last
  // one.
  const places: { start: number; end: number }[] = [];
  let from = 0;
  for (const { text: match, isHit } of snippetParts(text, query)) {
    if (!isHit) continue;
    const start = text.indexOf(match, from);
    if (start === -1) continue;
    from = start + match.length;
    places.push({ start, end: from });
  }
  return places;
}
