import type { JsonValue } from "@parley/wire";
import { useId } from "react";
import { cx } from "../ui/cx.js";
import { fieldClass } from "../ui/text/text-field.js";
import { DataText } from "./data-text.js";
import type { FormDraft, FormField } from "./form-fields.js";

export interface FieldFormProps {
  readonly fields: readonly FormField[];
  readonly draft: FormDraft;
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (draft: FormDraft) => void;
  /** The name of a field that is the whole value. */
  readonly label: string;
  readonly disabled?: boolean;
}

/** The fields of a value. Names, descriptions and choices come from a model and are shown as data. */
export function FieldForm({ fields, draft, problems, onChange, label, disabled = false }: FieldFormProps) {
  return (
    <div className="space-y-3">
      {fields.map((field, index) => (
        <Field
          key={field.key}
          field={field}
          name={field.path.length === 0 ? label : field.path.join(" › ")}
          isFirst={index === 0}
          isNamed={field.path.length > 0}
          typed={draft[field.key] ?? ""}
          problem={problems[field.key]}
          disabled={disabled}
          onType={(text) => onChange({ ...draft, [field.key]: text })}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly name: string;
  readonly isFirst: boolean;
  /** Its name is shown; the only field of a whole value is named by the text above it. */
  readonly isNamed: boolean;
  readonly typed: string;
  readonly problem: string | undefined;
  readonly disabled: boolean;
  readonly onType: (text: string) => void;
}

function Field({ field, name, isFirst, isNamed, typed, problem, disabled, onType }: FieldProps) {
  const id = useId();
  const { kind, required, description, choices } = field;
  const note = problem ?? description;
  const control = {
    id,
    disabled,
    "data-first": isFirst ? "" : undefined,
    "aria-invalid": problem === undefined ? undefined : true,
    "aria-describedby": note === undefined ? undefined : `${id}-note`,
  } as const;
  const title = (
    <>
      <DataText text={name.slice(0, 200)} />
      {!required && <span className="font-normal text-faint"> (optional)</span>}
    </>
  );
  const options: readonly (readonly [value: string, text: string])[] | undefined =
    kind === "yes-no"
      ? [
          ["true", "Yes"],
          ["false", "No"],
        ]
      : choices?.map((choice, index) => [String(index), choiceText(choice)] as const);
  const isRadio = options !== undefined && required && options.length <= 8;
  return (
    <div className="flex flex-col gap-1.5">
      {isRadio ? (
        <fieldset className="min-w-0" aria-describedby={control["aria-describedby"]}>
          <legend className={cx("mb-1.5 text-sm font-medium", !isNamed && "sr-only")}>{title}</legend>
          <div className="flex flex-wrap gap-2">
            {options.map(([value, text], index) => (
              <label
                key={value}
                className="flex max-w-full cursor-pointer items-center gap-2 rounded-md border border-line bg-raised px-3 py-1.5 text-sm has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent touch:py-2.5"
              >
                <input
                  type="radio"
                  name={id}
                  value={value}
                  checked={typed === value}
                  disabled={disabled}
                  data-first={isFirst && index === 0 ? "" : undefined}
                  onChange={() => onType(value)}
                  className="size-4 shrink-0 accent-(--accent) outline-none"
                />
                <span className="isolate-text min-w-0">
                  <DataText text={text} />
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      ) : (
        <>
          <label htmlFor={id} className={cx("text-sm font-medium", !isNamed && "sr-only")}>
            {title}
          </label>
          {options !== undefined ? (
            <select
              {...control}
              value={typed}
              onChange={(event) => onType(event.target.value)}
              className={fieldClass}
            >
              <option value="">{required ? "Choose" : "Not given"}</option>
              {options.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          ) : kind === "number" || kind === "integer" ? (
            <input
              {...control}
              inputMode={kind === "integer" ? "numeric" : "decimal"}
              value={typed}
              onChange={(event) => onType(event.target.value)}
              className={cx(fieldClass, "tabular max-w-60")}
            />
          ) : (
            <textarea
              {...control}
              dir="auto"
              rows={Math.min(12, Math.max(kind === "json" ? 3 : 1, lineCount(typed)))}
              spellCheck={kind === "text"}
              placeholder={kind === "json" ? "JSON" : undefined}
              value={typed}
              onChange={(event) => onType(event.target.value)}
              className={cx(fieldClass, "resize-y", kind === "json" && "font-mono text-xs leading-relaxed")}
            />
          )}
        </>
      )}
      {note !== undefined && (
        <p
          id={`${id}-note`}
          role={problem === undefined ? undefined : "alert"}
          className={cx("isolate-text text-xs", problem === undefined ? "text-faint" : "text-danger")}
        >
          <DataText text={note.slice(0, 1_000)} />
        </p>
      )}
    </div>
  );
}

function choiceText(choice: JsonValue): string {
  return (typeof choice === "string" ? choice : JSON.stringify(choice)).slice(0, 300);
}

/** Returns the number of lines of a text, up to as many as a field shows. */
function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1 && count < 12; at = text.indexOf("\n", at + 1)) count += 1;
  return Math.max(count, Math.ceil(Math.min(text.length, 1_000) / 70));
}
