import type { CallInput } from "@parley/client";
import type { InputActor, JsonValue } from "@parley/wire";
import { fullTime } from "../list/relative-time.js";
import { BigText } from "../ui/text/big-text.js";
import { argumentChanges, parseArguments } from "./argument-changes.js";
import { ChangeList } from "./argument-list.js";
import { DataText, drawData } from "./data-text.js";
import { decisionWords, scopeWords } from "./decision-words.js";

/** The decision on a call: its outcome, actor, time, and details. */
export function DecisionLine({
  input,
  argumentsText,
}: {
  readonly input: CallInput;
  /** The arguments of the model's call. */
  readonly argumentsText: string;
}) {
  const { request, response, respondedAt, own } = input;
  if (response === undefined) return null;
  const { outcome, isUndecided } = decisionWords(response, request.kind);
  const { by, note, scope, value, argumentsText: changed } = response;
  return (
    <div className="space-y-2 text-sm text-soft">
      <p className="isolate-text">
        <span className="font-medium text-ink">{outcome}</span>
        {by !== undefined && !isUndecided && ` by ${actorName(by)}`}
        {respondedAt !== undefined && (
          <>
            {", "}
            <time dateTime={new Date(respondedAt).toISOString()}>{fullTime(respondedAt)}</time>
          </>
        )}
        {scope !== undefined && `. Stands ${scopeWords(scope)}`}.
      </p>
      {own?.status === "late" && (
        <p className="text-danger">{`Your decision came later and changes nothing.`}</p>
      )}
      {note !== undefined && note !== "" && (
        <blockquote dir="auto" className="isolate-text border-l-2 border-line-strong pl-2.5">
          <DataText text={note.slice(0, 4_000)} />
        </blockquote>
      )}
      {changed !== undefined && <Changed before={argumentsText} after={changed} />}
      {response.decision === "answer" && value !== undefined && <Answer value={value} />}
    </div>
  );
}

/** Returns the name of the actor that decided, as far as a user can know it. */
function actorName({ owner, label }: InputActor): string {
  return (label === undefined ? owner : `${owner} (key ${label}…)`).slice(0, 200);
}

function Changed({ before, after }: { readonly before: string; readonly after: string }) {
  const changes = argumentChanges(parseArguments(before) ?? before, parseArguments(after) ?? after);
  return <ChangeList changes={changes} />;
}

function Answer({ value }: { readonly value: JsonValue }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <BigText
      mono
      text={text}
      lines={12}
      draw={drawData}
      className="rounded-md bg-sunken/70 px-3 py-2 text-ink"
    />
  );
}
