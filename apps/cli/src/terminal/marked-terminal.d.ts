declare module "marked-terminal" {
  import type { MarkedExtension } from "marked";

  /** The package brings no types of its own: this is the part of it that is used. */
  export function markedTerminal(
    options?: { readonly tab?: number; readonly reflowText?: boolean; readonly width?: number },
    highlightOptions?: { readonly ignoreIllegals?: boolean },
  ): MarkedExtension;
}
