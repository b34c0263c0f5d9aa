import { loadedPart } from "../ui/loading/loaded-part.js";
import { Spinner } from "../ui/loading/spinner.js";
import type { RequestCardProps } from "./request-card.js";

const card = loadedPart(async () => (await import("./request-card.js")).RequestCard);

/** Moves the focus to the first other request in a part of the page. Returns false if there is none. */
export function focusOtherRequest(part: ParentNode | null, requestId: string): boolean {
  const cards = part?.querySelectorAll<HTMLElement>("[data-request]") ?? [];
  const next = [...cards].find(({ dataset }) => dataset.request !== requestId);
  next?.focus();
  return next !== undefined;
}

/** A waiting call. The code of its card is loaded when there is one. */
export function RequestPart(props: RequestCardProps) {
  return (
    <card.Part
      {...props}
      fallback={
        <div className="px-4 py-6 text-faint">
          <Spinner label="Loading what is asked" />
        </div>
      }
    />
  );
}
