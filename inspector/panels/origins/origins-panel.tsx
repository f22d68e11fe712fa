import { useMemo, useState } from 'preact/hooks';
import { markedParts, type Origin, originsOf } from '../../fold/origins.ts';
import { revealHidden } from '../../fold/text.ts';
import { EntryLink } from '../entry-link.tsx';
import type { PanelProps } from '../panel.tsx';

const KINDS: Readonly<Record<Origin['kind'], string>> = {
  request: 'Request',
  'earlier turn': 'Earlier turn',
  passage: 'Passage',
  result: 'Tool result',
  reply: 'Reply',
  answer: 'Answer',
};

const MAX_SHOWN = 100;
/** The maximum length of an opened text, in characters. */
const MAX_CHARS = 20_000;

export function OriginsPanel({ inspector: { moveTo }, view }: PanelProps) {
  const [phrase, search] = useState(selectedText);
  const [opened, open] = useState<number | null>(null);
  const { log, fold, count } = view;
  const origins = useMemo(() => originsOf(log, fold, phrase), [log, fold, count, phrase]);
  return (
    <div class="origins">
      <label>
        Where does this come from?{' '}
        <input
          type="search"
          value={phrase}
          placeholder="words of the answer"
          onInput={({ currentTarget }) => {
            search(currentTarget.value);
            open(null);
          }}
        />
      </label>
      <p class="muted" role="status">
        {phrase.trim() === ''
          ? 'Select words on the page before you open this view, or type them.'
          : origins.length === 0
            ? 'No text of the run contains these words.'
            : 'In the order in which the run received them. The first one is the source. Click one to open its whole text.'}
      </p>
      <ol>
        {origins.slice(0, MAX_SHOWN).map(({ seq, kind, place, excerpt, content }, index) => (
          <li key={`${seq} ${kind} ${place}`}>
            <EntryLink
              seq={seq}
              moveTo={() => {
                open(index);
                moveTo(seq);
              }}
            >
              {KINDS[kind]}
            </EntryLink>{' '}
            <span class="muted">{place}</span>
            <p class="verbatim">
              {markedParts(index === opened ? revealHidden(content.slice(0, MAX_CHARS)) : excerpt, phrase).map(
                ({ text, isMatch }, nth) =>
                  // biome-ignore lint/suspicious/noArrayIndexKey: the parts keep their order
                  isMatch ? <mark key={nth}>{text}</mark> : text,
              )}
            </p>
          </li>
        ))}
      </ol>
      {origins.length > MAX_SHOWN && <p class="muted">More texts match. Add words to narrow the search.</p>}
    </div>
  );
}

const MAX_PHRASE_CHARS = 200;

let selected = '';

/** Opening this view removes the selected text with the panel that it replaces, before this component is rendered. */
document.addEventListener('selectionchange', () => {
  selected = (document.getSelection()?.toString() ?? '').trim().slice(0, MAX_PHRASE_CHARS);
});

const selectedText = (): string => selected;
