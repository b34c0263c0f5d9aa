import { frameWorker } from "./frame-worker.js";

/** A diagram that takes longer is shown as its source. */
const diagrams = frameWorker("/frames/diagram.html", 6_000);
const longestDrawing = 3_000_000;
const longestSource = 20_000;

/** A diagram as a drawing. It is a stranger's: show it as a picture, in which nothing runs and nothing loads. */
export interface Drawing {
  readonly picture: Blob;
  readonly width: number;
  readonly height: number;
}

/** Draws a diagram. Rejects with what is wrong with it. */
export async function drawDiagram(source: string, dark: boolean): Promise<Drawing> {
  if (source.length > longestSource) throw new Error("The diagram is too large to be drawn.");
  const { svg, width, height } = await diagrams.ask({ source, dark });
  if (typeof svg !== "string" || svg.length > longestDrawing)
    throw new Error("The drawing is too large to be shown.");
  const size = (value: unknown) =>
    typeof value === "number" && value > 0 && value < 100_000 ? Math.ceil(value) : 300;
  return { picture: new Blob([svg], { type: "image/svg+xml" }), width: size(width), height: size(height) };
}
