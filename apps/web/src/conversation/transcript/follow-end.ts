import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** Distance from the end, in pixels, within which a reader counts as being at the end. */
export const endZone = 64;

/**
 * Tracks whether the view stays at the end while it grows. Following stops as soon as the reader moves up, by wheel,
 * finger, key or scroll bar, and resumes when the reader returns to the end.
 */
export function useFollowEnd(
  box: RefObject<HTMLElement | null>,
  startsAtEnd: boolean,
): {
  readonly following: boolean;
  /** The end is out of view. A reader who has stopped following may still see it. */
  readonly away: boolean;
  readonly follow: () => void;
  readonly letGo: () => void;
} {
  const [following, setFollowing] = useState(startsAtEnd);
  const [away, setAway] = useState(false);
  const now = useRef(following);
  now.current = following;
  const lastTop = useRef(0);
  const lastHeight = useRef(0);
  const movedUp = useRef(false);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const distance = () => element.scrollHeight - element.clientHeight - element.scrollTop;
    let touchY = 0;
    const letGo = () => {
      movedUp.current = true;
      // If nothing can be scrolled, following continues.
      if (element.scrollHeight > element.clientHeight && element.scrollTop > 0) setFollowing(false);
    };
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0) letGo();
    };
    const onKey = (event: KeyboardEvent) => {
      if (["ArrowUp", "PageUp", "Home"].includes(event.key) && event.target === element) letGo();
    };
    const onTouchStart = (event: TouchEvent) => {
      touchY = event.touches[0]?.clientY ?? 0;
    };
    const onTouchMove = (event: TouchEvent) => {
      const y = event.touches[0]?.clientY ?? 0;
      if (y > touchY + 2) letGo();
      touchY = y;
    };
    const look = () => setAway(distance() > endZone);
    const onScroll = () => {
      look();
      const { scrollTop: top, scrollHeight: height } = element;
      const down = top > lastTop.current;
      const grew = height > lastHeight.current && top >= lastTop.current;
      lastTop.current = top;
      lastHeight.current = height;
      if (distance() > endZone) {
        // Rows that turned out to be taller do not move the reader: one who was at the end is scrolled to it.
        if (grew && now.current && !movedUp.current) element.scrollTop = height;
        else setFollowing(false);
      } else if (down || !movedUp.current) {
        movedUp.current = false;
        setFollowing(true);
      }
    };
    // New rows below do not move a reader who has stopped following, so they cause no scroll event.
    const observer = new ResizeObserver(look);
    observer.observe(element);
    if (element.firstElementChild !== null) observer.observe(element.firstElementChild);
    element.addEventListener("wheel", onWheel, { passive: true });
    element.addEventListener("touchstart", onTouchStart, { passive: true });
    element.addEventListener("touchmove", onTouchMove, { passive: true });
    element.addEventListener("keydown", onKey);
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("wheel", onWheel);
      element.removeEventListener("touchstart", onTouchStart);
      element.removeEventListener("touchmove", onTouchMove);
      element.removeEventListener("keydown", onKey);
      element.removeEventListener("scroll", onScroll);
    };
  }, [box]);
  const follow = useCallback(() => {
    // Rows on the way to the end may turn out to be taller: that must not count as a reader who moved up before.
    movedUp.current = false;
    now.current = true;
    setFollowing(true);
  }, []);
  const letGo = useCallback(() => setFollowing(false), []);
  return { following, away, follow, letGo };
}
