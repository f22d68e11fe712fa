const paths = {
  start: 'M3 3h2v10H3zM13 3v10L6 8z',
  back: 'M11 3v10L4 8z',
  play: 'M4 2.5v11L13.5 8z',
  pause: 'M4 3h3v10H4zM9 3h3v10H9z',
  on: 'M5 3v10l7-5z',
  end: 'M11 3h2v10h-2zM3 3v10l7-5z',
  up: 'M8 4l5 7H3z',
  down: 'M8 12L3 5h10z',
  shut: 'M5 3l7 5-7 5z',
  open: 'M3 5h10l-5 7z',
} as const;

export type IconName = keyof typeof paths;

/** A small picture beside or in place of a word that is said otherwise. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg width="14" height="14" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} fill="currentColor" />
    </svg>
  );
}
