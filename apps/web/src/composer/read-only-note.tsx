import { BookOpen } from "lucide-react";
import { composerId } from "./focus-composer.js";

/** Replaces the composer for a key that may only read. */
export function ReadOnlyNote() {
  return (
    <section
      id={composerId}
      aria-label="Reading only"
      tabIndex={-1}
      className="mx-auto mb-3 flex w-full max-w-[46rem] shrink-0 items-center gap-2.5 px-4 text-sm text-soft outline-none sm:px-6 print:hidden"
    >
      <BookOpen aria-hidden className="size-4 shrink-0" />
      Your key may read, and not write.
    </section>
  );
}
