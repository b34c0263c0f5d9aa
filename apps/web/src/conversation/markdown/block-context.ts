import { createContext } from "react";
import { emptyDocument, type References } from "./syntax/document.js";

/** What a block needs to know of the text around it. */
export interface BlockSurroundings {
  readonly references: References;
  /** Begins the ids of the footnotes, so that those of two answers differ. */
  readonly idPrefix: string;
}

export const BlockContext = createContext<BlockSurroundings>({
  references: emptyDocument.references,
  idPrefix: "",
});

/** True in the block that still grows. */
export const GrowingContext = createContext(false);
