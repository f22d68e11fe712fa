import { Fragment } from 'preact';

const FILLED = {
  up: 'M8 4l5 7H3z',
  down: 'M8 12L3 5h10z',
  collapsed: 'M5 3l7 5-7 5z',
  expanded: 'M3 5h10l-5 7z',
} as const;

const LINES = {
  check: 'M3.3 8.7 6.7 12l6-8',
  cross: 'M4 4l8 8M12 4 4 12',
  dot: 'M7.5 8h1',
  'arrow-right': 'M2 8h12M10 4l4 4-4 4',
  'arrow-left': 'M14 8H2M6 4 2 8l4 4',
  minus: 'M3 8h10',
  plus: 'M3 8h10M8 3v10',
  whole: 'M6 2H2v4M10 2h4v4M6 14H2v-4M10 14h4v-4',
  grow: 'M9 7l5-5M9 2h5v5M7 9l-5 5M2 9v5h5',
  shrink: 'M14 2 9 7M9 3v4h4M2 14l5-5M3 9h4v4',
  list: 'M2 4h1M7 4h7M2 8h1M7 8h7M2 12h1M7 12h7',
} as const;

type IconName = keyof typeof FILLED | keyof typeof LINES;

/** A small decorative icon in the text color. Drawn as a path because not every font has the glyphs. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" width="14" height="14" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {name in FILLED ? (
        <path d={FILLED[name as keyof typeof FILLED]} fill="currentColor" />
      ) : (
        <path
          d={LINES[name as keyof typeof LINES]}
          fill="none"
          stroke="currentColor"
          stroke-width="2"
          stroke-linecap="round"
        />
      )}
    </svg>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  readonly label: string;
  /** The keyboard shortcut, for the tooltip. */
  readonly keys?: string;
  readonly isDisabled?: boolean;
  readonly onClick: () => void;
}

export function IconButton({ icon, label, keys, isDisabled, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={keys === undefined ? label : `${label} (${keys})`}
      disabled={isDisabled}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}

/** A text with an icon for each arrow, because fonts may lack that character. */
export const WithArrows = ({ text }: { readonly text: string }) => (
  <>
    {text.split(' → ').map((part, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other key
      <Fragment key={index}>
        {index > 0 && (
          <>
            {' '}
            <Icon name="arrow-right" />{' '}
          </>
        )}
        {part}
      </Fragment>
    ))}
  </>
);
