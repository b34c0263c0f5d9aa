import { type FormEvent, type MouseEvent, type ReactNode, useLayoutEffect, useRef } from "react";
import { Button } from "../ui/button.js";
import { fieldClass } from "../ui/text/text-field.js";
import { type OpenRequest, useKept } from "./use-request.js";

export interface KeyButtonProps {
  /** The key that presses it while the focus is in the card. */
  readonly letter: string;
  readonly tone?: "primary" | "danger" | "quiet";
  readonly disabled?: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

/** A button of a card that can be pressed by a letter too. */
export function KeyButton({ letter, tone, onClick, children, ...rest }: KeyButtonProps) {
  const isLetter = letter.length === 1;
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    // The back button is removed with its form: the focus stays in the card.
    if (!isLetter) event.currentTarget.closest<HTMLElement>("[data-request]")?.focus();
    onClick();
  };
  return (
    <Button
      {...(tone === undefined ? {} : { tone })}
      data-key={letter}
      title={isLetter ? `${letter.toUpperCase()}, with the focus in this card` : undefined}
      aria-keyshortcuts={isLetter ? letter.toUpperCase() : "Escape"}
      onClick={press}
      {...rest}
    >
      {children}
    </Button>
  );
}

/** A form inside a card. Its first field gets the focus when it was opened by a button, which is removed then. */
export function CardForm({
  label,
  takesFocus = false,
  onSubmit,
  children,
}: {
  readonly label: string;
  readonly takesFocus?: boolean;
  readonly onSubmit: () => void;
  readonly children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  // Before anything is drawn: users keep typing.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it is opened
  useLayoutEffect(() => {
    const { activeElement: active, body } = document;
    if (!takesFocus || (active !== null && active !== body)) return;
    form.current?.querySelector<HTMLElement>("[data-first]")?.focus();
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form
      ref={form}
      aria-label={label}
      tabIndex={-1}
      onSubmit={submit}
      className="mt-3 space-y-3 outline-none"
    >
      {children}
    </form>
  );
}

/** Denies with a reason that the model reads. */
export function DenyForm({
  open,
  label,
  onBack,
}: {
  readonly open: OpenRequest;
  readonly label: string;
  readonly onBack: () => void;
}) {
  const { details, isSending, lacks, respond } = open;
  const [note, setNote] = useKept(details.requestId, "note", () => "");
  const id = `deny-${details.requestId}`;
  const trimmed = note.trim();
  return (
    <CardForm
      takesFocus
      label={label}
      onSubmit={() => respond({ decision: "deny", ...(trimmed === "" ? {} : { note: trimmed }) })}
    >
      <label htmlFor={id} className="block text-sm font-medium">
        Reason <span className="font-normal text-faint">(optional; the model reads it)</span>
      </label>
      <input
        id={id}
        data-first=""
        dir="auto"
        value={note}
        maxLength={4_000}
        onChange={(event) => setNote(event.target.value)}
        className={fieldClass}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" tone="danger" disabled={isSending || lacks !== undefined}>
          {label}
        </Button>
        <KeyButton letter="escape" tone="quiet" onClick={onBack}>
          Back
        </KeyButton>
      </div>
    </CardForm>
  );
}
