import {
  type ComponentType,
  createElement,
  type ReactElement,
  type ReactNode,
  useEffect,
  useState,
} from "react";

/** A component whose code comes later. */
interface LoadedPart<Props> {
  /** Draws it, or `fallback` until its code is there. Throws to the nearest boundary when it cannot be had. */
  readonly Part: (props: Props & { readonly fallback: ReactNode }) => ReactNode;
  /** Fetches its code before it is drawn. */
  preload(): Promise<void>;
}

/**
 * A part that is drawn in the moment in which its code is there, and at once when it was there before. React's own
 * `lazy` holds what follows a fallback back for 300 ms, lest the page flicker: too long between a question and its
 * answer.
 */
export function loadedPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): LoadedPart<Props> {
  let loaded: ComponentType<Props> | undefined;
  let loading: Promise<void> | undefined;
  const fetchOnce = () => {
    loading ??= load().then(
      (component) => {
        loaded = component;
      },
      (error: unknown) => {
        // It may be there the next time.
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  function Part({ fallback, ...props }: Props & { readonly fallback: ReactNode }): ReactNode {
    const [state, setState] = useState<{ readonly isThere: boolean; readonly error?: unknown }>({
      isThere: loaded !== undefined,
    });
    const { isThere } = state;
    useEffect(() => {
      if (isThere) return;
      let isLeft = false;
      fetchOnce().then(
        () => !isLeft && setState({ isThere: true }),
        (error: unknown) => !isLeft && setState({ isThere: false, error }),
      );
      return () => {
        isLeft = true;
      };
    }, [isThere]);
    if (state.error !== undefined) throw state.error;
    if (!isThere || loaded === undefined) return fallback;
    return createElement(loaded, props as unknown as Props) as ReactElement;
  }
  return { Part, preload: fetchOnce };
}
