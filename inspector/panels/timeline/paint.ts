import { PHASE_NAMES } from '../../fold/phase-names.ts';
import type { Tone } from '../../fold/strips.ts';

/** The colours of the page, as a canvas takes them. */
export type Paint = Readonly<
  Record<Tone | 'text' | 'muted' | 'line' | 'surface' | 'raised' | 'accent' | 'bad' | 'warn', string>
>;

const named: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PHASE_NAMES.map((phase) => [phase, `var(--phase-${phase}, var(--accent))`])),
  loop: 'var(--phase-action, var(--muted))',
  attempt: 'var(--accent)',
  wait: 'var(--warn)',
  call: 'var(--ok)',
  capability: 'var(--phase-action, var(--accent))',
  state: 'var(--accent)',
  ...Object.fromEntries(
    ['text', 'muted', 'line', 'surface', 'raised', 'accent', 'bad', 'warn'].map((name) => [name, `var(--${name})`]),
  ),
};

/** Reads the custom properties as they are now, by an element that is lent its colour to each in turn. */
export function readPaint(element: HTMLElement): Paint {
  const before = element.style.color;
  const paint: Record<string, string> = {};
  for (const [name, value] of Object.entries(named)) {
    element.style.color = value;
    paint[name] = getComputedStyle(element).color;
  }
  element.style.color = before;
  return paint as Paint;
}
