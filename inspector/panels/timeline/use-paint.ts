import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { theme } from '../../ui-state/theme.ts';
import { type Paint, readPaint } from './paint.ts';

/** The colours of an element's theme; read anew when that changes. Null before the element is there. */
export function usePaint(box: RefObject<HTMLDivElement | null>): Paint | null {
  const [paint, setPaint] = useState<Paint | null>(null);
  const chosen = theme.value;
  useLayoutEffect(() => {
    const read = (): void => {
      if (box.current !== null) setPaint(readPaint(box.current));
    };
    read();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', read);
    return () => dark.removeEventListener('change', read);
  }, [chosen]);
  return paint;
}
