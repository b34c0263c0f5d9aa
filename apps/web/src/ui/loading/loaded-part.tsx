import {
  type ComponentType,
  createElement,
  type ReactElement,
  type ReactNode,
  useEffect,
  useState,
} from "react";

/** A component whose code is loaded later. */
interface LoadedPart<Props> {
  /** Draws it, or `fallback` until its code is loaded. Throws to the nearest boundary if it cannot be loaded. */
  readonly Part: (props: Props & { readonly fallback: ReactNode }) => ReactNode;
  /** Fetches its code before it is drawn. */
  preload(): Promise<void>;
}

/**
 * Makes a part that is drawn as soon as its code is loaded, and at once if it was loaded before. React's own `lazy`
 * delays the content after a fallback by 300 ms, to avoid flicker: too long between a question and its answer.
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
        // The next attempt may succeed.
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
