import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.js";

export interface PiecesProps<Item> {
  readonly items: readonly Item[];
  /** Number of items that are drawn at first, and with each press. */
  readonly size: number;
  /** Name of the items, for the button. */
  readonly noun: string;
  readonly draw: (items: readonly Item[]) => ReactNode;
}

/** The first of many items, and a button that draws more: a browser cannot lay out any number at once. */
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
