import { ChevronsDownUp, ChevronsUpDown, Download, PanelRight, WrapText } from "lucide-react";
import { memo, useEffect, useId, useState } from "react";
import {
  artifactKind,
  openArtifact,
  updateArtifact,
  useIsShownArtifact,
} from "../../../artifacts/artifact-store.js";
import { Button } from "../../../ui/button.js";
import { downloadText } from "../../../ui/download.js";
import { IconButton } from "../../../ui/icon-button.js";
import { CopyButton } from "../../../ui/text/copy-button.js";
import { Diagram } from "../diagram/diagram.js";
import { CodeBody } from "./code-body.js";
import { codeFileName } from "./code-file.js";
import { useCodeLines } from "./use-code-lines.js";

export interface CodeFenceProps {
  readonly code: string;
  /** Name of the language in the fence; may be empty. */
  readonly language: string;
  /** True if more code is expected. */
  readonly growing: boolean;
}

/** Shorter code cannot be folded. */
const shortCode = 25;

/** Code with its language and its actions. A diagram is drawn once its source is complete. */
export const CodeFence = memo(function CodeFence(props: CodeFenceProps) {
  const [asSource, setAsSource] = useState(false);
  const isDiagram = props.language.toLowerCase() === "mermaid" && !props.growing;
  if (isDiagram && !asSource) return <Diagram source={props.code} onShowSource={() => setAsSource(true)} />;
  return <CodeFigure {...props} onShowDiagram={isDiagram ? () => setAsSource(false) : undefined} />;
});

interface CodeFigureProps extends CodeFenceProps {
  readonly onShowDiagram: (() => void) | undefined;
}

/** Shows code as text. Colors appear when they are ready, and move nothing. */
function CodeFigure({ code, language, growing, onShowDiagram }: CodeFigureProps) {
  const { lines, rest } = useCodeLines(code, language, growing);
  const [isWrapped, setWrapped] = useState(false);
  const [isFolded, setFolded] = useState(false);
  const shown = language === "" ? "text" : language.slice(0, 24);
  const text = () => code.replace(/\n$/, "");
  const look = {
    className: isWrapped ? "code-wrapped" : undefined,
    "data-folded": isFolded ? true : undefined,
  };
  return (
    <figure className="code-fence" aria-label={`Code in ${shown}`} dir="ltr">
      <figcaption>
        <span className="truncate">{shown}</span>
        <span className="flex items-center">
          {onShowDiagram !== undefined && (
            <Button size="small" tone="quiet" onClick={onShowDiagram}>
              Diagram
            </Button>
          )}
          <PreviewButton code={code} language={language} growing={growing} />
          {lines.count > shortCode && (
            <IconButton
              size="small"
              label={isFolded ? "Unfold code" : "Fold code"}
              icon={isFolded ? <ChevronsUpDown aria-hidden /> : <ChevronsDownUp aria-hidden />}
              aria-expanded={!isFolded}
              onClick={() => setFolded(!isFolded)}
            />
          )}
          <IconButton
            size="small"
            label="Wrap lines"
            icon={<WrapText aria-hidden />}
            active={isWrapped}
            aria-pressed={isWrapped}
            onClick={() => setWrapped(!isWrapped)}
          />
          {!growing && (
            <IconButton
              size="small"
              label="Download code"
              icon={<Download aria-hidden />}
              onClick={() => downloadText(codeFileName(language, code), text())}
            />
          )}
          <CopyButton text={text} label="Copy code" />
        </span>
      </figcaption>
      {/* Keyboards scroll what they can focus. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable */}
      <pre tabIndex={0} {...look}>
        <CodeBody lines={lines} rest={rest} />
      </pre>
      {isFolded && (
        <Button tone="quiet" size="small" className="m-1" onClick={() => setFolded(false)}>
          Show all {lines.count} lines
        </Button>
      )}
    </figure>
  );
}

/** Opens HTML or a drawing beside the conversation, and updates it there while it is written. */
function PreviewButton({ code, language, growing }: CodeFenceProps) {
  const id = useId();
  const kind = artifactKind(language);
  const isShown = useIsShownArtifact(id);
  useEffect(() => {
    if (isShown) updateArtifact(id, code, growing);
  }, [isShown, id, code, growing]);
  if (kind === undefined) return null;
  return (
    <Button
      size="small"
      tone="quiet"
      aria-pressed={isShown}
      onClick={() => openArtifact({ id, kind, code, growing, fileName: codeFileName(kind, code) })}
    >
      <PanelRight aria-hidden className="size-3.5" /> Preview
    </Button>
  );
}
