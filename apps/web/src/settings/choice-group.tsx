import { type ReactElement, useId } from "react";
import { cx } from "../ui/cx.js";

export interface ChoiceGroupProps<Value extends string> {
  readonly label: string;
  readonly hint?: string;
  readonly value: Value;
  readonly choices: readonly {
    readonly value: Value;
    readonly label: string;
    readonly icon?: ReactElement;
  }[];
  readonly onChange: (value: Value) => void;
}

/** A few choices side by side, of which one is selected. */
export function ChoiceGroup<Value extends string>({
  label,
  hint,
  value,
  choices,
  onChange,
}: ChoiceGroupProps<Value>) {
  const name = useId();
  return (
    <fieldset className="mb-6">
      <legend className="mb-1.5 text-sm font-medium">{label}</legend>
      <div className="flex flex-wrap gap-2">
        {choices.map((choice) => (
          <label
            key={choice.value}
            className={cx(
              "flex min-h-9 cursor-pointer items-center gap-2 rounded-md border px-3 py-1 text-sm touch:min-h-11 [&_svg]:size-4",
              "has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-accent",
              choice.value === value
                ? "border-accent bg-accent-soft text-ink"
                : "border-line bg-raised text-soft hover:border-line-strong hover:text-ink",
            )}
          >
            <input
              type="radio"
              name={name}
              className="sr-only"
              checked={choice.value === value}
              onChange={() => onChange(choice.value)}
            />
            {choice.icon}
            {choice.label}
          </label>
        ))}
      </div>
      {hint !== undefined && <p className="mt-1.5 text-xs text-faint">{hint}</p>}
    </fieldset>
  );
}
