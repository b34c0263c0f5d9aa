import type { GrantScope } from "@parley/wire";
import { useMemo } from "react";
import { Button } from "../ui/button.js";
import { parseArguments, wherePattern } from "./argument-changes.js";
import { CardForm, KeyButton } from "./card-form.js";
import { DataText } from "./data-text.js";
import { type OpenRequest, useKept } from "./use-request.js";

interface AlwaysFormProps {
  readonly open: OpenRequest;
  readonly onBack: () => void;
  readonly onAllow: (scope: GrantScope) => void;
}

/** Extends an approval to later calls, with its scope spelled out. */
export function AlwaysForm({ open, onBack, onAllow }: AlwaysFormProps) {
  const { details, isSending, lacks } = open;
  const { requestId, toolName, argumentsText } = details;
  const where = useMemo(() => wherePattern(parseArguments(argumentsText)), [argumentsText]);
  const [place, setPlace] = useKept<GrantScope["in"]>(requestId, "place", () => "conversation");
  const [isNarrow, setNarrow] = useKept(requestId, "narrow", () => false);
  const scope: GrantScope = { in: place, ...(isNarrow && where !== undefined ? { where } : {}) };
  return (
    <CardForm takesFocus label="Allow always" onSubmit={() => onAllow(scope)}>
      <Choices
        legend="Where"
        name={`${requestId}-place`}
        value={place}
        onChange={setPlace}
        choices={[
          ["conversation", "In this conversation"],
          ["owner", "In all conversations"],
        ]}
      />
      {where === undefined ? (
        <p className="text-xs text-faint">
          It stands for any arguments: these ones cannot be matched by a pattern.
        </p>
      ) : (
        <Choices
          legend="For"
          name={`${requestId}-where`}
          value={isNarrow ? "these" : "any"}
          onChange={(next) => setNarrow(next === "these")}
          choices={[
            ["any", "Any arguments"],
            ["these", "These arguments only"],
          ]}
        />
      )}
      <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
        {"From now on "}
        <span className="font-mono text-xs">
          <DataText text={toolName.slice(0, 200)} />
        </span>
        {" runs without asking "}
        {place === "owner" ? "in all your conversations" : "in this conversation"}
        {scope.where === undefined
          ? ", whatever its arguments are"
          : ", if each argument shown above has the same value"}
        {
          ", until you revoke it in the settings or the tool changes. Only a rule of the server can still ask."
        }
      </p>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" tone="primary" disabled={isSending || lacks !== undefined}>
          Allow always
        </Button>
        <KeyButton letter="escape" tone="quiet" onClick={onBack}>
          Back
        </KeyButton>
      </div>
    </CardForm>
  );
}

function Choices<T extends string>({
  legend,
  name,
  value,
  onChange,
  choices,
}: {
  readonly legend: string;
  readonly name: string;
  readonly value: T;
  readonly onChange: (value: T) => void;
  readonly choices: readonly (readonly [value: T, label: string])[];
}) {
  return (
    <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1.5 text-sm">
      <legend className="mb-1 text-xs font-medium text-faint">{legend}</legend>
      {choices.map(([each, label]) => (
        <label key={each} className="flex cursor-pointer items-center gap-2 touch:py-1.5">
          <input
            type="radio"
            name={name}
            checked={each === value}
            data-first={each === value ? "" : undefined}
            onChange={() => onChange(each)}
            className="size-4 accent-(--accent)"
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}
