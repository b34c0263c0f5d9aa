import { Check } from "lucide-react";
import {
  cloneElement,
  createContext,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { createPortal } from "react-dom";
import { cx } from "../cx.js";
import { Kbd } from "../kbd.js";
import { type Align, placeBeside, type Side } from "./place-beside.js";

/*
 * A menu with the usual keys: the button opens it by click, Enter, Space or an arrow key; inside, arrows, Home, End and
 * letters move, Enter and Space choose, Esc and Tab close; the focus returns to the button. Written here because the
 * page's first load is too small for a library of popups.
 */

const CloseContext = createContext<() => void>(() => undefined);

const entryClass =
  "flex w-full cursor-default items-center gap-2.5 rounded-sm px-2.5 py-1.5 text-left text-sm text-ink outline-none " +
  "select-none focus:bg-sunken aria-disabled:opacity-50 touch:py-2.5 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-soft";

export interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly children: ReactNode;
  readonly side?: Side;
  readonly align?: Align;
  readonly className?: string;
}

/** A menu of actions or choices. */
export function Menu({ trigger, children, side = "bottom", align = "end", className }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [opened, setOpened] = useState<"first" | "last">();
  const close = (refocus: boolean) => {
    setOpened(undefined);
    if (refocus) button.current?.focus();
  };
  return (
    <>
      {cloneElement(trigger, {
        ref: button,
        "aria-haspopup": "menu",
        "aria-expanded": opened !== undefined,
        ...(opened === undefined ? {} : { "aria-controls": id, "data-popup-open": "" }),
        onClick: () => setOpened(opened === undefined ? "first" : undefined),
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          setOpened(event.key === "ArrowDown" ? "first" : "last");
        },
      })}
      {opened !== undefined &&
        createPortal(
          <CloseContext.Provider value={() => close(true)}>
            <MenuPopup
              id={id}
              anchor={button}
              start={opened}
              side={side}
              align={align}
              className={className}
              onClose={close}
            >
              {children}
            </MenuPopup>
          </CloseContext.Provider>,
          placeOf(button.current),
        )}
    </>
  );
}

/**
 * Returns the place where screen readers look for what belongs to the button: its part of the page. A drawer moves, so
 * it cannot be used.
 */
function placeOf(button: HTMLElement | null): Element {
  const part = button?.closest("main, aside, nav");
  return part === undefined || part === null || part.closest('[role="dialog"]') !== null
    ? document.body
    : part;
}

function MenuPopup({
  id,
  anchor,
  start,
  side,
  align,
  className,
  onClose,
  children,
}: {
  readonly id: string;
  readonly anchor: React.RefObject<HTMLButtonElement | null>;
  readonly start: "first" | "last";
  readonly side: Side;
  readonly align: Align;
  readonly className: string | undefined;
  readonly onClose: (refocus: boolean) => void;
  readonly children: ReactNode;
}) {
  const popup = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: "", at: 0 });
  const close = useRef(onClose);
  close.current = onClose;

  useLayoutEffect(() => {
    const element = popup.current;
    const button = anchor.current;
    if (element === null || button === null) return;
    const place = placeBeside(
      button.getBoundingClientRect(),
      { width: element.offsetWidth, height: element.offsetHeight },
      { width: innerWidth, height: innerHeight },
      { side, align },
    );
    element.style.left = `${place.left}px`;
    element.style.top = `${place.top}px`;
  }, [anchor, side, align]);
  useEffect(() => {
    const entries = entriesOf(popup.current);
    const chosen = entries.find((entry) => entry.getAttribute("aria-checked") === "true");
    (chosen ?? (start === "first" ? entries[0] : entries.at(-1)))?.focus();
  }, [start]);
  useEffect(() => {
    const onDown = (event: PointerEvent) => {
      const target = event.target as Node;
      if (popup.current?.contains(target) !== true && anchor.current?.contains(target) !== true) {
        close.current(false);
      }
    };
    const onResize = () => close.current(false);
    document.addEventListener("pointerdown", onDown, true);
    addEventListener("resize", onResize);
    return () => {
      document.removeEventListener("pointerdown", onDown, true);
      removeEventListener("resize", onResize);
    };
  }, [anchor]);

  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    const entries = entriesOf(popup.current);
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const focus = (index: number) => {
      event.preventDefault();
      entries[(index + entries.length) % entries.length]?.focus();
    };
    if (event.key === "ArrowDown") focus(at + 1);
    else if (event.key === "ArrowUp") focus(at < 0 ? -1 : at - 1);
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(-1);
    else if (event.key === "Escape") {
      event.preventDefault();
      onClose(true);
    } else if (event.key === "Tab") onClose(true);
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== " ") {
      const now = event.timeStamp;
      typed.current = {
        text: (now - typed.current.at < 700 ? typed.current.text : "") + event.key.toLowerCase(),
        at: now,
      };
      const after = [...entries.slice(at + (typed.current.text.length === 1 ? 1 : 0)), ...entries];
      after.find((entry) => entry.textContent?.trim().toLowerCase().startsWith(typed.current.text))?.focus();
    }
  };

  return (
    <div
      ref={popup}
      id={id}
      role="menu"
      tabIndex={-1}
      onKeyDown={onKeyDown}
      className={cx(
        "fixed z-50 max-h-[min(26rem,calc(100dvh-2rem))] max-w-[calc(100vw-1rem)] min-w-44 overflow-y-auto",
        "rounded-lg border border-line bg-raised p-1 shadow-pop outline-none",
        className,
      )}
    >
      {children}
    </div>
  );
}

export interface MenuActionProps {
  readonly icon?: ReactElement;
  readonly children: ReactNode;
  readonly keys?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onSelect: () => void;
}

/** One action of a menu. */
export function MenuAction({
  icon,
  children,
  keys,
  danger = false,
  disabled = false,
  onSelect,
}: MenuActionProps) {
  const close = useContext(CloseContext);
  return (
    <button
      type="button"
      role="menuitem"
      tabIndex={-1}
      aria-disabled={disabled || undefined}
      onPointerMove={focusIt}
      onClick={() => {
        if (disabled) return;
        close();
        onSelect();
      }}
      className={cx(entryClass, danger && "text-danger [&_svg]:text-danger")}
    >
      {icon}
      <span className="min-w-0 flex-1">{children}</span>
      {keys !== undefined && <Kbd keys={keys} />}
    </button>
  );
}

export interface MenuChoicesProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly {
    readonly value: Value;
    readonly label: ReactNode;
    readonly note?: ReactNode;
    readonly icon?: ReactElement;
  }[];
  readonly onChange: (value: Value) => void;
}

/** Choices of which one is selected. */
export function MenuChoices<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: MenuChoicesProps<Value>) {
  const close = useContext(CloseContext);
  const labelId = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group of a menu is no fieldset
    <div role="group" aria-labelledby={labelId}>
      <div id={labelId} role="presentation" className="px-2.5 pt-1.5 pb-1 text-xs font-medium text-faint">
        {label}
      </div>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          role="menuitemradio"
          aria-checked={choice.value === value}
          tabIndex={-1}
          onPointerMove={focusIt}
          onClick={() => {
            close();
            onChange(choice.value);
          }}
          className={entryClass}
        >
          {choice.icon}
          <span className="min-w-0 flex-1">
            <span className="block truncate">{choice.label}</span>
            {choice.note !== undefined && <span className="block text-xs text-faint">{choice.note}</span>}
          </span>
          {choice.value === value && <Check aria-hidden />}
        </button>
      ))}
    </div>
  );
}

/** A line between groups of a menu. */
export function MenuLine() {
  return <hr className="mx-1 my-1 border-line" />;
}

function focusIt(event: React.PointerEvent<HTMLElement>): void {
  if (event.pointerType !== "touch") event.currentTarget.focus({ preventScroll: true });
}

function entriesOf(popup: HTMLElement | null): HTMLElement[] {
  return [...(popup?.querySelectorAll<HTMLElement>('[role="menuitem"], [role="menuitemradio"]') ?? [])];
}
