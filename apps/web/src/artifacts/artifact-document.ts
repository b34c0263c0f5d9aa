import type { ArtifactKind } from "./artifact-store.js";

/** Returns the document of an artifact. A template in it cannot declare a shadow root, in which frames would hide. */
export function artifactDocument(kind: ArtifactKind, code: string): string {
  const own = code.replaceAll(/shadowroot(?=mode)/gi, "shadow-");
  if (kind === "html") return `<!doctype html>${own}`;
  return `<!doctype html><style>${svgStyle}</style>${own}`;
}

const svgStyle =
  "html,body{margin:0;height:100%}body{display:grid;place-items:center}svg{max-width:100%;max-height:100%}";
