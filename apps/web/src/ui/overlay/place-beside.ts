export type Side = "top" | "bottom" | "left" | "right";
export type Align = "start" | "center" | "end";

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the place of a popup beside its anchor: on the wanted side, on the other one if that has more space, never off
 * the screen.
 */
export function placeBeside(
  anchor: Box,
  popup: Size,
  screen: Size,
  {
    side,
    align,
    gap = 6,
    margin = 8,
  }: { readonly side: Side; readonly align: Align; readonly gap?: number; readonly margin?: number },
): { readonly left: number; readonly top: number; readonly side: Side } {
  const chosen = flip(side, anchor, popup, screen, gap + margin);
  const vertical = chosen === "top" || chosen === "bottom";
  const along = vertical
    ? aligned(align, anchor.left, anchor.width, popup.width)
    : aligned(align, anchor.top, anchor.height, popup.height);
  const across =
    chosen === "top"
      ? anchor.top - gap - popup.height
      : chosen === "bottom"
        ? anchor.top + anchor.height + gap
        : chosen === "left"
          ? anchor.left - gap - popup.width
          : anchor.left + anchor.width + gap;
  const left = vertical ? along : across;
  const top = vertical ? across : along;
  return {
    left: clamp(left, margin, screen.width - popup.width - margin),
    top: clamp(top, margin, screen.height - popup.height - margin),
    side: chosen,
  };
}

const opposite: Readonly<Record<Side, Side>> = { top: "bottom", bottom: "top", left: "right", right: "left" };

function flip(side: Side, anchor: Box, popup: Size, screen: Size, need: number): Side {
  const available: Readonly<Record<Side, number>> = {
    top: anchor.top,
    bottom: screen.height - anchor.top - anchor.height,
    left: anchor.left,
    right: screen.width - anchor.left - anchor.width,
  };
  const wanted = (side === "top" || side === "bottom" ? popup.height : popup.width) + need;
  return available[side] >= wanted || available[side] >= available[opposite[side]] ? side : opposite[side];
}

function aligned(align: Align, start: number, length: number, size: number): number {
  if (align === "start") return start;
  if (align === "end") return start + length - size;
  return start + (length - size) / 2;
}

function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(value, high));
}
