import { cloneElement, type ReactElement, useEffect, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Kbd } from "../kbd.js";
import { placeBeside, type Side } from "./place-beside.js";

export interface TooltipProps {
  readonly text: string;
  readonly keys?: string | undefined;
  readonly side?: Side;
  /** One element that accepts attributes. */
  readonly children: ReactElement<Record<string, unknown>>;
}

/**
 * A short text on hover and focus. Never the only source of its information: screen readers get the label.
 *
 * It only marks its element; one layer for the whole page draws the tip, so that a thousand buttons cost nothing.
 */
export function Tooltip({ text, keys, side, children }: TooltipProps) {
  return cloneElement(children, {
    "data-tip": text,
    ...(keys === undefined ? {} : { "data-tip-keys": keys }),
    ...(side === undefined ? {} : { "data-tip-side": side }),
  });
}

interface Tip {
  readonly anchor: HTMLElement;
  readonly text: string;
  readonly keys: string | undefined;
  readonly side: Side;
}

const hoverDelay = 500;

/** Draws the tooltips of the page. There is one layer. */
export function TooltipLayer() {
  const [tip, setTip] = useState<Tip>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const marked = (target: EventTarget | null) =>
      target instanceof Element ? target.closest<HTMLElement>("[data-tip]") : null;
    const hide = () => {
      clearTimeout(timer);
      setTip(undefined);
    };
    const show = (anchor: HTMLElement, delay: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const { tip: text, tipKeys: keys, tipSide: side } = anchor.dataset;
        if (text === undefined || !anchor.isConnected) return;
        setTip({ anchor, text, keys, side: (side as Side | undefined) ?? "top" });
      }, delay);
    };
    const onOver = (event: PointerEvent) => {
      if (event.pointerType === "touch") return;
      const anchor = marked(event.target);
      if (anchor === null) hide();
      else show(anchor, hoverDelay);
    };
    const onFocus = (event: FocusEvent) => {
      const anchor = marked(event.target);
      if (anchor?.matches(":focus-visible")) show(anchor, 0);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") hide();
    };
    document.addEventListener("pointerover", onOver);
    document.addEventListener("focusin", onFocus);
    document.addEventListener("focusout", hide);
    document.addEventListener("pointerdown", hide);
    document.addEventListener("scroll", hide, { capture: true, passive: true });
    document.addEventListener("keydown", onKey);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("pointerover", onOver);
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("focusout", hide);
      document.removeEventListener("pointerdown", hide);
      document.removeEventListener("scroll", hide, { capture: true });
      document.removeEventListener("keydown", onKey);
    };
  }, []);
  return tip === undefined ? null : createPortal(<TipBox tip={tip} />, document.body);
}

function TipBox({ tip }: { readonly tip: Tip }) {
  const box = useRef<HTMLDivElement>(null);
  const { anchor, side, text, keys } = tip;
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const place = placeBeside(
      anchor.getBoundingClientRect(),
      { width: element.offsetWidth, height: element.offsetHeight },
      { width: innerWidth, height: innerHeight },
      { side, align: "center" },
    );
    element.style.left = `${place.left}px`;
    element.style.top = `${place.top}px`;
  });
  return (
    <div
      ref={box}
      aria-hidden
      className="pointer-events-none fixed z-60 flex max-w-72 items-center gap-2 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-pop"
    >
      {text}
      {keys !== undefined && <Kbd keys={keys} inverse />}
    </div>
  );
}
