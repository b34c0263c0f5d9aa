import { Code, Download, Eye, Maximize2, Minimize2, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { downloadText } from "../ui/download.js";
import { IconButton } from "../ui/icon-button.js";
import { BigText } from "../ui/text/big-text.js";
import { CopyButton } from "../ui/text/copy-button.js";
import { artifactDocument } from "./artifact-document.js";
import { type Artifact, closeArtifact } from "./artifact-store.js";

/** Interval at which an artifact that is being written is shown again: each time restarts it. */
const betweenMs = 1_000;

export interface ArtifactPanelProps {
  readonly artifact: Artifact;
  readonly isWide: boolean;
  readonly onWide: (wide: boolean) => void;
}

/** HTML or a drawing that a model wrote, running, or as its source. */
export function ArtifactPanel({ artifact, isWide, onWide }: ArtifactPanelProps) {
  const [asSource, setAsSource] = useState(false);
  const panel = useRef<HTMLDivElement>(null);
  const { code, kind, fileName } = artifact;
  useEffect(() => panel.current?.focus(), []);
  useEffect(() => {
    const element = panel.current;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      event.preventDefault();
      closeArtifact();
    };
    element?.addEventListener("keydown", onKey);
    return () => element?.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div ref={panel} tabIndex={-1} className="flex min-h-0 flex-1 flex-col outline-none">
      <header className="flex items-center gap-0.5 border-b border-line px-3 py-1.5">
        <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">{fileName}</h2>
        <IconButton
          label={asSource ? "Show preview" : "Show source"}
          icon={asSource ? <Eye aria-hidden /> : <Code aria-hidden />}
          onClick={() => setAsSource(!asSource)}
        />
        <CopyButton text={code} label="Copy source" className="size-9 touch:size-11" />
        <IconButton
          label="Download"
          icon={<Download aria-hidden />}
          onClick={() => downloadText(fileName, code)}
        />
        <IconButton
          className="max-lg:hidden"
          label={isWide ? "Beside the conversation" : "Full width"}
          icon={isWide ? <Minimize2 aria-hidden /> : <Maximize2 aria-hidden />}
          onClick={() => onWide(!isWide)}
        />
        <IconButton label="Close preview" keys="Esc" icon={<X aria-hidden />} onClick={closeArtifact} />
      </header>
      {asSource ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable
        <section aria-label="Source" tabIndex={0} className="min-h-0 flex-1 overflow-auto p-4">
          <BigText mono text={code} uncut />
        </section>
      ) : (
        <Preview key={kind} artifact={artifact} />
      )}
    </div>
  );
}

/**
 * The running artifact. Its permissions are limited by the frame's attributes and, again, by the server's policy for
 * it.
 */
function Preview({ artifact }: { readonly artifact: Artifact }) {
  const { kind, growing } = artifact;
  const code = useThrottled(artifact.code, growing ? betweenMs : 0);
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const onMessage = ({ source, data }: MessageEvent) => {
      const target = frame.current?.contentWindow;
      if (target === null || target === undefined || source !== target || data?.ready !== true) return;
      target.postMessage({ html: artifactDocument(kind, code) }, "*");
    };
    addEventListener("message", onMessage);
    return () => removeEventListener("message", onMessage);
  }, [kind, code]);
  return (
    <iframe
      // Each state of the code gets a frame of its own.
      key={code}
      ref={frame}
      title="Preview"
      src="/frames/artifact.html"
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      className="min-h-0 w-full flex-1 border-0 bg-[#fff] [color-scheme:light]"
    />
  );
}

/** Returns the value, updated at most this often while it keeps changing. 0: at once. */
function useThrottled(value: string, ms: number): string {
  const [shown, setShown] = useState(value);
  const last = useRef(0);
  useEffect(() => {
    const wait = ms === 0 ? 0 : Math.max(0, last.current + ms - performance.now());
    const timer = setTimeout(() => {
      last.current = performance.now();
      setShown(value);
    }, wait);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return shown;
}
