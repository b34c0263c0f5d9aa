import { frameWorker } from "./frame-worker.js";

/** A diagram that takes longer is shown as its source. */
const diagrams = frameWorker("/frames/diagram.html", 6_000);
const longestDrawing = 3_000_000;
const longestSource = 20_000;

/** A diagram as a drawing. Its source is not trusted: show it as a picture, in which nothing runs and nothing loads. */
export interface Drawing {
  readonly picture: Blob;
  readonly width: number;
  readonly height: number;
}

/** Recent drawings: one that is scrolled back into view is there at once, with the same height. */
const kept = new Map<string, Drawing>();
const mostKept = 40;

/** Returns the drawing of a diagram, if it was made before. */
export function keptDrawing(source: string, dark: boolean): Drawing | undefined {
  return kept.get(keyOf(source, dark));
}

/** Draws a diagram. Rejects with its problem. */
export async function drawDiagram(source: string, dark: boolean): Promise<Drawing> {
  const drawing = keptDrawing(source, dark) ?? (await draw(source, dark));
  kept.delete(keyOf(source, dark));
  kept.set(keyOf(source, dark), drawing);
  for (const oldest of [...kept.keys()].slice(0, -mostKept)) kept.delete(oldest);
  return drawing;
}

function keyOf(source: string, dark: boolean): string {
  return `${dark ? "dark" : "light"} ${source}`;
}

async function draw(source: string, dark: boolean): Promise<Drawing> {
  if (source.length > longestSource) throw new Error("The diagram is too large to be drawn.");
  const { svg, width, height } = await diagrams.ask({ source, dark });
  if (typeof svg !== "string" || svg.length > longestDrawing)
    throw new Error("The drawing is too large to be shown.");
  const size = (value: unknown) =>
    typeof value === "number" && value > 0 && value < 100_000 ? Math.ceil(value) : 300;
  return { picture: new Blob([svg], { type: "image/svg+xml" }), width: size(width), height: size(height) };
}
