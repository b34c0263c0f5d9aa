import katex from "katex";
import "katex/dist/katex.min.css";

/**
 * Draws a formula into an element. Returns what is wrong with it, if anything is; the element is empty then. The
 * formula is a stranger's: it may not name addresses or classes, define without end, or be larger than the page.
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
