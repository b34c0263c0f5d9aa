import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.js";

export interface PiecesProps<Item> {
  readonly items: readonly Item[];
  /** How many are drawn at first, and with each press. */
  readonly size: number;
  /** What they are called, for the button. */
  readonly noun: string;
  readonly draw: (items: readonly Item[]) => ReactNode;
}

/** The first of many, and a button that draws more: a browser cannot lay out any number at once. */
export function Pieces<Item>({ items, size, noun, draw }: PiecesProps<Item>) {
  const [shown, setShown] = useState(size);
  const hidden = items.length - shown;
  if (hidden <= 0) return draw(items);
  return (
    <>
      {draw(items.slice(0, shown))}
      <Button size="small" className="my-2" onClick={() => setShown(shown + size)}>
        Show {Math.min(size, hidden)} more of {hidden} {noun}
      </Button>
    </>
  );
}
