import { useEffect, useRef, useState } from "react";
import { cx } from "../cx.js";

export interface EditableTitleProps {
  readonly title: string;
  readonly onSave: (title: string) => void;
  readonly onDone: () => void;
  readonly className?: string;
}

/** A title that is being edited: Enter and leaving the field save it, Esc does not. */
export function EditableTitle({ title, onSave, onDone, className }: EditableTitleProps) {
  const [value, setValue] = useState(title);
  const field = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => field.current?.select(), []);
  const finish = (keep: boolean) => {
    if (done.current) return;
    done.current = true;
    if (keep && value.trim() !== "" && value.trim() !== title) onSave(value);
    onDone();
  };
  return (
    <input
      ref={field}
      dir="auto"
      aria-label="Title"
      maxLength={200}
      value={value}
      // biome-ignore lint/a11y/noAutofocus: it appears because the user asked to type here
      autoFocus
      onChange={(event) => setValue(event.target.value)}
      onBlur={() => finish(true)}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.nativeEvent.isComposing) return;
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") finish(false);
      }}
      className={cx("min-w-0 rounded-sm bg-raised px-1.5 text-ink outline-2 outline-accent", className)}
    />
  );
}
