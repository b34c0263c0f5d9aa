import { type PointerEvent, type SyntheticEvent, useEffect, useRef } from "react";

const longMs = 500;

/** Calls back when a finger rests on an element. Prevents the browser's own menu, which would follow. */
export function useLongPress(onPress: () => void) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isTouch = useRef(false);
  const end = () => clearTimeout(timer.current);
  useEffect(() => () => clearTimeout(timer.current), []);
  return {
    onPointerDown: ({ pointerType }: PointerEvent) => {
      end();
      isTouch.current = pointerType === "touch";
      if (isTouch.current) timer.current = setTimeout(onPress, longMs);
    },
    onPointerUp: end,
    // The list is scrolled.
    onPointerCancel: end,
    onContextMenu: (event: SyntheticEvent) => {
      if (isTouch.current) event.preventDefault();
    },
  };
}
