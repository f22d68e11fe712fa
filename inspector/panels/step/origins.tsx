import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { firstChars } from '../../../machines/text/clip.ts';
import { formatScore } from '../../fold/format.ts';
import { type Origin, originName, originsOf, originText } from '../../fold/origins.ts';
import { revealHidden } from '../../fold/text.ts';
import { LinkButton } from '../../link-button.tsx';
import { useKeys } from '../../ui-state/keys.ts';
import { showPassage } from '../../ui-state/sought-passage.ts';
import { Marked } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';

const MAX_SHOWN = 50;
const MAX_PHRASE_CHARS = 200;

/** The parts of the page in which words can be selected. */
const PLACES = '.step-view, .head-area';

/** Selected words, and where they are in the window. */
interface Selected {
  readonly phrase: string;
  readonly left: number;
  readonly top: number;
}

/** Offers to find the texts that contain selected words, and lists them beside the selection. */
export function Origins(props: PanelProps) {
  const [selected, setSelected] = useState<Selected | null>(null);
  const [opened, setOpened] = useState<Selected | null>(null);
  const latest = useRef<Selected | null>(null);
  latest.current = selected;
  useEffect(() => {
    const onSelection = (): void => setSelected(selectedWords());
    document.addEventListener('selectionchange', onSelection);
    return () => document.removeEventListener('selectionchange', onSelection);
  }, []);
  useKeys([
    {
      keys: ['o'],
      description: 'Find the texts that contain the selected words',
      group: 'Panels',
      act: () => setOpened(latest.current ?? { phrase: '', left: innerWidth / 2, top: innerHeight / 4 }),
    },
  ]);
  if (opened !== null) return <OriginList {...props} selected={opened} onClose={() => setOpened(null)} />;
  if (selected === null) return null;
  return (
    <button
      type="button"
      class="origins-button primary"
      style={placeOf(selected)}
      // The selection stays while the button is pressed.
      onPointerDown={(event) => event.preventDefault()}
      onClick={() => setOpened(selected)}
    >
      Where is this from?
    </button>
  );
}

function selectedWords(): Selected | null {
  const selection = document.getSelection();
  const phrase = firstChars((selection?.toString() ?? '').trim(), MAX_PHRASE_CHARS);
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  if (
    selection === null ||
    selection.rangeCount === 0 ||
    // If text in a field is selected, the range is empty.
    selection.getRangeAt(0).collapsed ||
    !/[\p{L}\p{N}]/u.test(phrase) ||
    element?.closest(PLACES) == null
  )
    return null;
  const { left, bottom } = selection.getRangeAt(0).getBoundingClientRect();
  return { phrase, left, top: bottom + 4 };
}

/** In the window, whatever was selected. */
const placeOf = ({ left, top }: Selected) => ({ '--left': `${Math.round(left)}px`, '--top': `${Math.round(top)}px` });

interface OriginListProps extends PanelProps {
  readonly selected: Selected;
  readonly onClose: () => void;
}

function OriginList({ inspector, view, selected, onClose }: OriginListProps) {
  const [phrase, search] = useState(selected.phrase);
  const list = useRef<HTMLDivElement>(null);
  const { log, fold, count } = view;
  const origins = useMemo(() => originsOf(log, fold, phrase), [log, fold, count, phrase]);
  // Before painting, so that the next key reaches the field.
  useLayoutEffect(() => {
    list.current?.showPopover();
    list.current?.querySelector('input')?.focus();
  }, []);
  return (
    <div
      ref={list}
      class="origins stack"
      popover="auto"
      role="dialog"
      aria-label="Where is this from?"
      style={placeOf(selected)}
      onToggle={({ newState }) => newState === 'closed' && onClose()}
    >
      <input
        type="search"
        aria-label="Words to find"
        value={phrase}
        placeholder="words of the answer"
        onInput={({ currentTarget }) => search(currentTarget.value)}
      />
      <p role="status" class="verbatim">
        {phrase.trim() === '' ? 'Type words, or select them on the page.' : revealHidden(originText(origins))}
      </p>
      <OriginItems origins={origins.slice(0, MAX_SHOWN)} phrase={phrase} inspector={inspector} view={view} />
      {origins.length > MAX_SHOWN && <p class="muted">More texts match. Add words to narrow the search.</p>}
    </div>
  );
}

interface OriginItemsProps extends PanelProps {
  readonly origins: readonly Origin[];
  readonly phrase: string;
}

/** Texts with their places; the words of a phrase are marked. */
export const OriginItems = ({ origins, phrase, inspector, view }: OriginItemsProps) => (
  <ol class="origin-items stack">
    {origins.map(({ seq, kind, place, content, excerpt, support }) => (
      <li key={`${seq} ${kind} ${place}`}>
        <LinkButton
          onClick={() => {
            if (kind === 'passage') showPassage(inspector, view, { seq, content, phrase });
            else inspector.moveTo(seq);
          }}
        >
          <span class="verbatim">{revealHidden(originName({ kind, place }))}</span>
        </LinkButton>
        {support !== null && <span class="muted"> support {formatScore(support)}</span>}
        <p class="verbatim" dir="auto">
          <Marked text={excerpt} phrase={phrase} />
        </p>
      </li>
    ))}
  </ol>
);
