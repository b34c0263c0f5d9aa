// Draws diagrams for the page, in a document without an origin and without a network: whatever a diagram makes the
// library do, only a drawing leaves this frame, and the page shows it as a picture.
/* global mermaid */

/** Settings that a diagram cannot override by its directives. */
const fixed = {
  startOnLoad: false,
  securityLevel: "strict",
  htmlLabels: false,
  maxTextSize: 20_000,
  maxEdges: 300,
  suppressErrorRendering: true,
  deterministicIds: true,
  fontFamily: "ui-sans-serif, system-ui, sans-serif",
};
let count = 0;

addEventListener("message", async ({ source, data }) => {
  if (source !== parent || typeof data?.source !== "string") return;
  const answer = (rest) => parent.postMessage({ id: data.id, ...rest }, "*");
  try {
    mermaid.initialize({
      ...fixed,
      theme: data.dark === true ? "dark" : "neutral",
      flowchart: { htmlLabels: false },
      secure: [...Object.keys(fixed), "theme", "secure", "flowchart", "themeCSS", "themeVariables"],
    });
    count += 1;
    const { svg } = await mermaid.render(`diagram-${count}`, data.source);
    // Well-formed, as a picture has to be.
    const place = document.createElement("div");
    place.innerHTML = svg;
    const element = place.querySelector("svg");
    if (element === null) throw new Error("nothing was drawn");
    const { width, height } = element.viewBox.baseVal ?? {};
    element.setAttribute("width", String(Math.ceil(width)));
    element.setAttribute("height", String(Math.ceil(height)));
    answer({ svg: new XMLSerializer().serializeToString(element), width, height });
  } catch (error) {
    answer({ problem: String(error?.message ?? error).slice(0, 2_000) });
  } finally {
    document.body.replaceChildren();
  }
});
parent.postMessage({ ready: true }, "*");
