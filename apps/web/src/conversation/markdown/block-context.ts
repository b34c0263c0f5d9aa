import { createContext } from "react";
import { emptyDocument, type References } from "./syntax/document.js";

/** Context of a block: what it needs of the text around it. */
export interface BlockSurroundings {
  readonly references: References;
  /** Prefix of the ids of footnotes, so that those of two answers differ. */
  readonly idPrefix: string;
}

export const BlockContext = createContext<BlockSurroundings>({
  references: emptyDocument.references,
  idPrefix: "",
});

/** True in the block that is still growing. */
export const GrowingContext = createContext(false);
