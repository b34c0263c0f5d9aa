import { Code, TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { useTheme } from "../../../app/theme.js";
import { type Drawing, drawDiagram, keptDrawing } from "../../../artifacts/diagram-frame.js";
import { Button } from "../../../ui/button.js";
import { Spinner } from "../../../ui/loading/spinner.js";
import { BigText } from "../../../ui/text/big-text.js";
import { CopyButton } from "../../../ui/text/copy-button.js";

type State =
  | { readonly phase: "drawing" }
  | { readonly phase: "failed"; readonly problem: string }
  | { readonly phase: "drawn"; readonly drawing: Drawing; readonly address: string };

/** A diagram, drawn from its source, in the colors of the theme. If it cannot be drawn, its source is shown. */
export function Diagram({
  source,
  onShowSource,
}: {
  readonly source: string;
  readonly onShowSource: () => void;
}) {
  const dark = useTheme(({ theme }) => theme === "dark");
  const state = useDrawing(source, dark);
  return (
    <figure className="code-fence md-diagram" aria-label="Diagram" dir="ltr">
      <figcaption>
        <span>diagram</span>
        <span className="flex items-center">
          {state.phase !== "failed" && (
            <Button size="small" tone="quiet" onClick={onShowSource}>
              <Code aria-hidden className="size-3.5" /> Source
            </Button>
          )}
          <CopyButton text={source} label="Copy source" />
        </span>
      </figcaption>
      {state.phase === "drawn" ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable
        <section aria-label="Diagram" tabIndex={0} className="md-drawing">
          <img
            src={state.address}
            alt={`Diagram: ${firstWords(source)}`}
            width={state.drawing.width}
            height={state.drawing.height}
            decoding="async"
          />
        </section>
      ) : (
        <div className="p-3">
          <p className="mb-2 flex items-center gap-2 text-xs text-faint">
            {state.phase === "drawing" ? (
              <>
                <Spinner /> Drawing the diagram
              </>
            ) : (
              <>
                <TriangleAlert aria-hidden className="size-3.5 shrink-0" />
                <span className="min-w-0 break-words">
                  The diagram cannot be drawn. {state.problem.slice(0, 300)}
                </span>
              </>
            )}
          </p>
          <BigText mono text={source} lines={30} />
        </div>
      )}
    </figure>
  );
}

function useDrawing(source: string, dark: boolean): State {
  const [state, setState] = useState<State>(() => {
    const drawing = keptDrawing(source, dark);
    return drawing === undefined ? { phase: "drawing" } : drawn(drawing);
  });
  useEffect(() => {
    let isGone = false;
    drawDiagram(source, dark).then(
      (drawing) => {
        if (isGone) return;
        setState((before) =>
          before.phase === "drawn" && before.drawing === drawing ? before : drawn(drawing),
        );
      },
      (error: unknown) => {
        if (!isGone)
          setState({ phase: "failed", problem: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => {
      isGone = true;
    };
  }, [source, dark]);
  const address = state.phase === "drawn" ? state.address : undefined;
  useEffect(() => () => void (address === undefined || URL.revokeObjectURL(address)), [address]);
  return state;
}

function drawn(drawing: Drawing): State {
  return { phase: "drawn", drawing, address: URL.createObjectURL(drawing.picture) };
}

/** Returns the kind of the diagram, as named at the start of its source. */
function firstWords(source: string): string {
  return source.trim().split("\n", 1)[0]?.slice(0, 80) ?? "";
}
