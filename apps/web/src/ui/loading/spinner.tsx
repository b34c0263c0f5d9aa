import { LoaderCircle } from "lucide-react";
import { cx } from "../cx.js";

/** Shows that something is running. Announces it to screen readers if it has a label. */
export function Spinner({ label, className }: { readonly label?: string; readonly className?: string }) {
  return (
    <span
      role={label === undefined ? undefined : "status"}
      className={cx("inline-flex items-center", className)}
    >
      <LoaderCircle aria-hidden className="size-4 animate-spin-slow" />
      {label !== undefined && <span className="sr-only">{label}</span>}
    </span>
  );
}
