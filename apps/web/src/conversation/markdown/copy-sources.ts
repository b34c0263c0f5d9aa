/** Attribute of an element that holds its source text. */
export const sourceAttribute = "data-source";

/**
 * Copies a selection with formulas as they were written. Returns false if it has none: the browser then copies as
 * usual.
 */
export function copyWithSources(selection: Selection, clipboard: DataTransfer): boolean {
  if (selection.rangeCount === 0 || selection.isCollapsed) return false;
  const range = selection.getRangeAt(0);
  const fragment = range.cloneContents();
  const formulas = fragment.querySelectorAll(`[${sourceAttribute}]`);
  const around = elementOf(range.commonAncestorContainer)?.closest(`[${sourceAttribute}]`);
  if (formulas.length === 0 && (around === null || around === undefined)) return false;
  if (around !== null && around !== undefined) {
    clipboard.setData("text/plain", around.getAttribute(sourceAttribute) ?? "");
    return true;
  }
  for (const formula of formulas) formula.replaceWith(formula.getAttribute(sourceAttribute) ?? "");
  // The text as the browser would lay it out: with its lines and paragraphs.
  const place = document.createElement("div");
  place.className = "md md-copied";
  place.append(fragment);
  document.body.append(place);
  const text = place.innerText;
  place.remove();
  clipboard.setData("text/plain", text);
  return true;
}

function elementOf(node: Node): Element | null {
  return node instanceof Element ? node : node.parentElement;
}
