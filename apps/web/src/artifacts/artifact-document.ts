import type { ArtifactKind } from "./artifact-store.js";

/**
 * The document of an artifact. The frame that shows it has no network; what a browser offers to reach one past a policy
 * (calls between browsers) is taken away before the first of its scripts runs.
 */
export function artifactDocument(kind: ArtifactKind, code: string): string {
  if (kind === "html") return `<!doctype html>${withoutCalls}${code}`;
  return `<!doctype html>${withoutCalls}<style>html,body{margin:0;height:100%}body{display:grid;place-items:center}svg{max-width:100%;max-height:100%}</style>${code}`;
}

const withoutCalls =
  "<script>for(const name of ['RTCPeerConnection','webkitRTCPeerConnection','RTCDataChannel','WebTransport'])" +
  "try{Object.defineProperty(window,name,{value:undefined})}catch{}" +
  "document.currentScript.remove()</script>";
