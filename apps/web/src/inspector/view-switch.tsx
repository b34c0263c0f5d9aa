import { cx } from "../ui/cx.js";

export interface ViewSwitchProps<View extends string> {
  /** Subject of the switch, for screen readers. */
  readonly label: string;
  readonly views: readonly { readonly value: View; readonly label: string }[];
  readonly value: View;
  readonly onChange: (view: View) => void;
}

/** A choice between two or three ways to show the same data. */
export function ViewSwitch<View extends string>({ label, views, value, onChange }: ViewSwitchProps<View>) {
  return (
    <fieldset className="flex rounded-md bg-sunken p-0.5">
      <legend className="sr-only">{label}</legend>
      {views.map((view) => (
        <button
          key={view.value}
          type="button"
          aria-pressed={view.value === value}
          onClick={() => onChange(view.value)}
          className={cx(
            "rounded-[5px] px-2 py-0.5 text-xs font-medium transition-colors touch:px-3 touch:py-1.5",
            view.value === value ? "bg-raised text-ink shadow-sm" : "text-soft hover:text-ink",
          )}
        >
          {view.label}
        </button>
      ))}
    </fieldset>
  );
}
