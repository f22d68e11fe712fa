import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** Returns what `read` returns for an element, updated when the element's size changes. Returns `first` before it is rendered. */
export function useMeasured<Value>(
  box: RefObject<HTMLElement | null>,
  first: Value,
  read: (element: HTMLElement) => Value,
): Value {
  const [measured, setMeasured] = useState(first);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const measure = (): void => setMeasured(read(element));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return measured;
}
