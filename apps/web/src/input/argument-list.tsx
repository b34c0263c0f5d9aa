import type { JsonValue } from "@parley/wire";
import { useMemo, useState } from "react";
import { Button } from "../ui/button.js";
import { BigText } from "../ui/text/big-text.js";
import { type ArgumentChange, isRecord, parseArguments } from "./argument-changes.js";
import { DataText, drawData } from "./data-text.js";

/** Further arguments are folded at first. */
const shownAtFirst = 12;

/** The arguments that a tool would be called with, as a form to read: a name and a value each, all of it as data. */
export function ArgumentList({ argumentsText }: { readonly argumentsText: string }) {
  const value = useMemo(() => parseArguments(argumentsText), [argumentsText]);
  const [isWhole, setWhole] = useState(false);
  if (value === undefined || !isRecord(value)) {
    return <DataBox text={argumentsText === "" ? "(no arguments)" : argumentsText} />;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return <p className="text-sm text-soft">Without arguments.</p>;
  return (
    <>
      <dl className="space-y-2.5">
        {(isWhole ? entries : entries.slice(0, shownAtFirst)).map(([name, each]) => (
          <div key={name}>
            <dt className="mb-0.5 flex items-baseline gap-2 text-xs">
              <span className="min-w-0 font-medium break-words text-soft">
                <DataText text={name.length > 200 ? `${name.slice(0, 200)}…` : name} />
              </span>
              <span className="text-faint">{kindOf(each)}</span>
            </dt>
            <dd>
              <DataBox text={textOf(each)} />
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > shownAtFirst && !isWhole && (
        <Button size="small" className="mt-2" onClick={() => setWhole(true)}>
          {`Show all ${entries.length} arguments`}
        </Button>
      )}
      <details className="mt-2.5 text-xs text-faint">
        <summary className="w-fit rounded-sm hover:text-ink">Exactly as the model wrote it</summary>
        <DataBox text={argumentsText} className="mt-1.5" />
      </details>
    </>
  );
}

/** A value from a model: long ones are folded, invisible characters shown. */
function DataBox({ text, className }: { readonly text: string; readonly className?: string }) {
  return (
    <BigText
      mono
      text={text}
      lines={12}
      chars={2_000}
      draw={drawData}
      className={`rounded-md bg-sunken/70 px-3 py-2 text-ink ${className ?? ""}`}
    />
  );
}

function textOf(value: JsonValue): string {
  if (typeof value === "string") return value === "" ? "(empty)" : value;
  return JSON.stringify(value, null, 2);
}

function kindOf(value: JsonValue): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return `list of ${value.length}`;
  switch (typeof value) {
    case "string":
      return "text";
    case "boolean":
      return "yes or no";
    default:
      return typeof value;
  }
}

/** Changes that a person made, value by value. */
export function ChangeList({ changes }: { readonly changes: readonly ArgumentChange[] }) {
  const shown = changes.slice(0, 30);
  return (
    <ul aria-label="Changes" className="space-y-2">
      {shown.map(({ path, before, after }) => (
        <li key={path} className="text-xs">
          <span className="font-medium text-soft">
            <DataText text={path === "" ? "everything" : path.slice(0, 300)} />
          </span>
          <div className="mt-0.5 overflow-hidden rounded-md border border-line font-mono leading-relaxed">
            {before !== undefined && <ChangedValue sign="−" word="Before: " value={before} tone="danger" />}
            {after !== undefined && <ChangedValue sign="+" word="Now: " value={after} tone="good" />}
          </div>
        </li>
      ))}
      {changes.length > shown.length && (
        <li className="text-xs text-faint">{`and ${changes.length - shown.length} more`}</li>
      )}
    </ul>
  );
}

function ChangedValue({
  sign,
  word,
  value,
  tone,
}: {
  readonly sign: string;
  readonly word: string;
  readonly value: JsonValue;
  readonly tone: "danger" | "good";
}) {
  const Element = tone === "danger" ? "del" : "ins";
  return (
    <Element
      className={`flex gap-2 px-2 py-1 no-underline ${tone === "danger" ? "bg-danger-soft text-danger" : "bg-good-soft text-good"}`}
    >
      <span aria-hidden>{sign}</span>
      <span className="sr-only">{word}</span>
      <BigText mono text={textOf(value)} lines={6} chars={600} draw={drawData} className="min-w-0 flex-1" />
    </Element>
  );
}
