import { useState } from 'preact/hooks';
import { entryTrouble } from '../../../src/chain/presentation/entry-words.ts';
import { formatNumber, formatTime, pluralize } from '../../fold/format.ts';
import { countUpTo } from '../../fold/sorted.ts';
import { excerpt } from '../../fold/text.ts';
import { LinkButton } from '../../link-button.tsx';
import { entryLine } from '../../ui-state/entry-line.ts';
import { EntryLink } from '../entry-link.tsx';
import { Folded } from '../folded.tsx';
import { JsonTree } from '../json-tree.tsx';
import type { PanelProps } from '../panel.tsx';
import { EntrySearch, search, useSearch } from './entry-search.tsx';
import { Section } from './section.tsx';

/** The entries of the step. */
export function Raw(props: PanelProps) {
  const { from, to } = props.view.selection;
  const size = Math.max(1, Math.min(to, props.view.at) - from + 1);
  return (
    <Section title="Raw" aside={<ModeButton isAll />}>
      <Folded
        summary={
          <>
            {pluralize(size, 'entry').replace('entrys', 'entries')}{' '}
            <span class="muted">
              {formatNumber(from)}
              {size > 1 && ` to ${formatNumber(from + size - 1)}`}
            </span>
          </>
        }
        content={() => <Entries {...props} size={size} seqAt={(index) => from + index} index={0} />}
      />
    </Section>
  );
}

const ModeButton = ({ isAll }: { readonly isAll: boolean }) => (
  <button
    type="button"
    onClick={() => {
      search.isShown.value = isAll;
    }}
  >
    {isAll ? 'All entries' : 'Only this step'}
  </button>
);

/** In place of the step: all entries, or those that the search found. The one at the cursor is open. */
export function AllEntries(props: PanelProps) {
  const { count, at } = props.view;
  const found = useSearch(props.view, search.text.value);
  const { seqs } = found ?? {};
  return (
    <Section title="All entries" aside={<ModeButton isAll={false} />}>
      <EntrySearch {...props} found={found} />
      {seqs === undefined ? (
        <Entries {...props} size={count} seqAt={(index) => index} index={at} opensCurrent />
      ) : seqs.length === 0 ? (
        <p class="muted">No entry matches.</p>
      ) : (
        <Entries
          key={search.text.value}
          {...props}
          size={seqs.length}
          seqAt={(index) => seqs[index] ?? 0}
          index={Math.max(0, countUpTo(seqs, at) - 1)}
          opensCurrent
        />
      )}
    </Section>
  );
}

const PAGE = 50;
/** The entries that are shown before the one at the cursor. */
const BEFORE = 3;

interface EntriesProps extends PanelProps {
  readonly size: number;
  readonly seqAt: (index: number) => number;
  /** The entry that must be among those shown. */
  readonly index: number;
  /** Whether the entry at the cursor shows its JSON. */
  readonly opensCurrent?: boolean;
}

/** A part of a list of entries, which the reader extends. */
function Entries({ inspector, view, size, seqAt, index, opensCurrent = false }: EntriesProps) {
  const [range, setRange] = useState({ from: 0, to: 0 });
  const isIn = index >= range.from && index < range.to;
  const from = isIn ? range.from : Math.max(0, index - BEFORE);
  const to = isIn ? range.to : from + PAGE;
  if (!isIn) setRange({ from, to });
  return (
    <>
      {from > 0 && (
        <LinkButton onClick={() => setRange({ from: Math.max(0, from - PAGE), to })}>show earlier</LinkButton>
      )}
      <ol class="entries small">
        {Array.from({ length: Math.min(to, size) - from }, (_, place) => seqAt(from + place)).map((seq) => (
          <Entry key={seq} inspector={inspector} view={view} seq={seq} isOpenFirst={opensCurrent && seq === view.at} />
        ))}
      </ol>
      {to < size && <LinkButton onClick={() => setRange({ from, to: to + PAGE })}>show more</LinkButton>}
    </>
  );
}

interface EntryProps extends PanelProps {
  readonly seq: number;
  readonly isOpenFirst: boolean;
}

function Entry({ inspector, view, seq, isOpenFirst }: EntryProps) {
  const { log, fold, at } = view;
  const [toggled, toggle] = useState<boolean | null>(null);
  const isOpen = toggled ?? isOpenFirst;
  const entry = log.entry(seq);
  return (
    <li id={`entry-${seq}`} class="labeled">
      <EntryLink seq={seq} moveTo={inspector.moveTo} isCurrent={seq === at}>
        {formatNumber(seq)}
      </EntryLink>
      <button type="button" class="plain" aria-expanded={isOpen} onClick={() => toggle(!isOpen)}>
        <span class="muted">{formatTime(fold.timeLine.atMs(seq))}</span> <b>{excerpt(entry.type, 24)}</b>{' '}
        <span class={`verbatim ${entryTrouble(entry) === 'failed' ? 'wrong' : ''}`}>{entryLine(entry, view)}</span>
      </button>
      {isOpen && <JsonTree value={entry} />}
    </li>
  );
}
