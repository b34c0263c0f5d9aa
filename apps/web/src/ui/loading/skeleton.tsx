import { cx } from "../cx.js";

/** A placeholder for content. Its size comes from the class. */
export function Skeleton({ className }: { readonly className?: string }) {
  return (
    <div aria-hidden className={cx("animate-pulse-soft rounded-md bg-sunken", className ?? "h-4 w-full")} />
  );
}
