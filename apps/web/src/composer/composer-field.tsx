import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { fieldDirection } from "../ui/text/field-direction.js";
import { inFront, readDraft, showDraft, writeDraft } from "./drafts.js";
import { composerId } from "./focus-composer.js";
import { isTouchKeyboard } from "./send-key.js";

/** Handle of the field, for its parent component. */
export interface ComposerFieldHandle {
  /** Returns what was typed and empties the field. Undefined if there is nothing to send, unless files go with it. */
  take(withFiles: boolean): string | undefined;
  /** Removes a text from what was typed. Returns false if it is not there any more. */
  cut(text: string): boolean;
  /** Appends a text to what was typed, and moves the cursor there. */
  put(text: string): void;
  focus(): void;
}

export interface ComposerFieldProps {
  readonly ref: Ref<ComposerFieldHandle>;
  /** Key of the draft that it keeps. */
  readonly draftKey: string;
  readonly placeholder: string;
  readonly onKey: (event: KeyboardEvent, text: string) => void;
  readonly onEmptyChange: (empty: boolean) => void;
  /** Shown above the text: the files that go with it. */
  readonly above: ReactNode;
  readonly onPaste: (event: ClipboardEvent<HTMLTextAreaElement>) => void;
  readonly left: ReactNode;
  readonly right: ReactNode;
}

/** The text field of a composer: grows with its text, keeps its draft, and leaves Enter alone while an input method composes. */
export function ComposerField({
  ref,
  draftKey,
  placeholder,
  onKey,
  onEmptyChange,
  above,
  onPaste,
  left,
  right,
}: ComposerFieldProps) {
  const [text, setText] = useState(() => readDraft(draftKey));
  const latest = useRef(text);
  latest.current = text;
  const area = useRef<HTMLTextAreaElement>(null);
  // Some browsers end a composition before the Enter that ended it.
  const composedAt = useRef(0);

  const empty = text.trim() === "";
  useEffect(() => onEmptyChange(empty), [empty, onEmptyChange]);

  useEffect(() => {
    const timer = setTimeout(() => writeDraft(draftKey, text), 250);
    return () => clearTimeout(timer);
  }, [draftKey, text]);
  useEffect(() => {
    const keep = () => writeDraft(draftKey, latest.current);
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      keep();
    };
  }, [draftKey]);
  useEffect(
    () =>
      showDraft(draftKey, (lost) => {
        latest.current = inFront(lost, latest.current);
        setText(latest.current);
        writeDraft(draftKey, latest.current);
      }),
    [draftKey],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each change of the text
  useLayoutEffect(() => {
    const element = area.current;
    if (element === null || CSS.supports("field-sizing", "content")) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
  useEffect(() => {
    // On a touch screen the keyboard would cover half of what was opened.
    if (matchMedia("(pointer: fine)").matches) area.current?.focus();
  }, []);

  useImperativeHandle(
    ref,
    () => ({
      take(withFiles) {
        const taken = latest.current.trim() === "" ? "" : latest.current;
        if (taken === "" && !withFiles) return undefined;
        latest.current = "";
        setText("");
        writeDraft(draftKey, "");
        return taken;
      },
      cut(part) {
        if (!latest.current.includes(part)) return false;
        latest.current = latest.current.replace(part, () => "");
        setText(latest.current);
        return true;
      },
      put(added) {
        latest.current = latest.current.trim() === "" ? added : `${latest.current.trimEnd()}\n\n${added}`;
        setText(latest.current);
        area.current?.focus();
      },
      focus() {
        area.current?.focus();
      },
    }),
    [draftKey],
  );

  return (
    <div className="rounded-xl border border-line-strong bg-raised shadow-[0_1px_3px_rgb(0_0_0/0.05)] focus-within:border-accent">
      {above}
      <textarea
        ref={area}
        id={composerId}
        aria-label="Message"
        dir={fieldDirection(text)}
        rows={1}
        value={text}
        placeholder={placeholder}
        enterKeyHint={isTouchKeyboard() ? "enter" : "send"}
        onChange={(event) => setText(event.target.value)}
        onPaste={onPaste}
        onCompositionEnd={() => {
          composedAt.current = performance.now();
        }}
        onKeyDown={(event) => {
          const composing =
            event.nativeEvent.isComposing ||
            event.keyCode === 229 ||
            (event.key === "Enter" && performance.now() - composedAt.current < 50);
          if (!composing) onKey(event, text);
        }}
        className="field-sizing-content block max-h-[40dvh] min-h-12 w-full resize-none bg-transparent px-4 pt-3 pb-1 text-[1rem] leading-6 outline-none placeholder:text-faint"
      />
      <div className="flex items-center justify-between gap-2 px-2 pb-2">
        {left}
        <div className="ml-auto flex shrink-0 items-center gap-1.5">{right}</div>
      </div>
    </div>
  );
}
