const PATHS = {
  check: 'M2.5 6.5 5 9l4.5-6',
  cross: 'M3 3l6 6M9 3 3 9',
  dot: 'M5.6 6h.8',
  arrow: 'M1.5 6h9M7.5 3l3 3-3 3',
  back: 'M10.5 6h-9M4.5 3l-3 3 3 3',
} as const;

/** A small sign in the colour of the text; drawn, since not every font has it. */
export function Mark({ is }: { readonly is: keyof typeof PATHS }) {
  return (
    <svg class="mark" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d={PATHS[is]} fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
    </svg>
  );
}
