import katex from "katex";
import "katex/dist/katex.min.css";

/**
 * Draws a formula into an element. Returns its problem, if it has one; the element is empty then. The formula is
 * untrusted: it may not use addresses or classes, define macros without end, or be larger than the page.
 */
export function drawMath(element: HTMLElement, tex: string, display: boolean): string | undefined {
  try {
    katex.render(tex, element, {
      displayMode: display,
      output: "htmlAndMathml",
      throwOnError: true,
      strict: "ignore",
      trust: false,
      maxExpand: 200,
      maxSize: 20,
    });
    return undefined;
  } catch (error) {
    element.replaceChildren();
    return error instanceof Error ? error.message.slice(0, 300) : "The formula cannot be drawn.";
  }
}
