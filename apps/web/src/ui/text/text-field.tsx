import { type ComponentProps, type ReactNode, useId } from "react";
import { cx } from "../cx.js";

export interface TextFieldProps extends Omit<ComponentProps<"input">, "id"> {
  readonly label: string;
  /** The label is only for screen readers. */
  readonly labelHidden?: boolean;
  readonly hint?: ReactNode;
  readonly problem?: string | undefined;
}

/** The class names of a text input, for other elements that should look like one. */
export const fieldClass =
  "w-full rounded-md border border-line-strong bg-canvas px-3 py-2 text-sm text-ink placeholder:text-faint " +
  "focus-visible:border-accent focus-visible:outline-offset-0";

/** One line of text with its label, a hint and its problem. */
export function TextField({ label, labelHidden = false, hint, problem, className, ...rest }: TextFieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = hint !== undefined || problem !== undefined;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className={labelHidden ? "sr-only" : "text-sm font-medium"}>
        {label}
      </label>
      <input
        id={id}
        dir="auto"
        className={cx(fieldClass, className)}
        aria-invalid={problem !== undefined || undefined}
        aria-describedby={hasNote ? noteId : undefined}
        {...rest}
      />
      {hasNote && (
        <p
          id={noteId}
          className={cx("text-xs", problem === undefined ? "text-faint" : "text-danger")}
          role={problem === undefined ? undefined : "alert"}
        >
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}
