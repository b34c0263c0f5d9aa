import { CornerLeftUp } from "lucide-react";
import { type MouseEvent, type ReactNode, useContext } from "react";
import { BlockContext } from "./block-context.js";
import type { References } from "./syntax/document.js";

/** Returns the footnotes that a text has and mentions, in the order of their numbers. */
function numberedFootnotes({ footnotes, mentioned }: References): readonly string[] {
  return [...mentioned].filter((label) => footnotes.has(label));
}

/** A number that links to its footnote, or the source text if there is no such footnote. */
export function FootnoteMark({ label, source }: { readonly label: string; readonly source: string }) {
  const { references, idPrefix } = useContext(BlockContext);
  const number = numberedFootnotes(references).indexOf(label) + 1;
  if (number === 0) return source;
  return (
    <sup>
      <a
        id={`${idPrefix}mark-${number}`}
        href={`#${idPrefix}note-${number}`}
        aria-label={`Footnote ${number}`}
        className="md-footnote-mark"
        onClick={goTo}
      >
        {number}
      </a>
    </sup>
  );
}

/** The footnotes of an answer, below it. `draw` draws the text of one. */
export function Footnotes({ draw }: { readonly draw: (raw: string) => ReactNode }) {
  const { references, idPrefix } = useContext(BlockContext);
  const labels = numberedFootnotes(references);
  if (labels.length === 0) return null;
  return (
    <section className="md-footnotes" aria-label="Footnotes">
      <ol>
        {labels.map((label, index) => (
          <li key={label} id={`${idPrefix}note-${index + 1}`} tabIndex={-1} dir="auto">
            {draw(references.footnotes.get(label) ?? "")}
            <a
              href={`#${idPrefix}mark-${index + 1}`}
              aria-label={`Back to where footnote ${index + 1} is mentioned`}
              className="md-footnote-back"
              onClick={goTo}
            >
              <CornerLeftUp aria-hidden />
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Scrolls to a place of the answer. The address stays that of the conversation. */
function goTo(event: MouseEvent<HTMLAnchorElement>): void {
  event.preventDefault();
  const target = document.getElementById(decodeURIComponent(event.currentTarget.hash.slice(1)));
  target?.scrollIntoView({ block: "nearest" });
  target?.focus();
}
