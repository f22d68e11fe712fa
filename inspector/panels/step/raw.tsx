import { useState } from 'preact/hooks';
import { formatNumber, formatTime, pluralize } from '../../fold/format.ts';
import { excerpt } from '../../fold/text.ts';
import { LinkButton } from '../../link-button.tsx';
import { entryLine } from '../../ui-state/entry-line.ts';
import { search } from '../events/event-search.tsx';
import { EventsPanel } from '../events/events-panel.tsx';
import { JsonTree } from '../json-tree.tsx';
import type { PanelProps } from '../panel.tsx';
import { Section } from './section.tsx';

/** The entries of the step, and on request all entries of the run. Nothing is rendered until it is opened. */
export function Raw(props: PanelProps) {
  const { from, to } = props.view.selection;
  const [isOpen, setOpen] = useState(false);
  const until = Math.min(to, props.view.at);
  if (search.isShown.value)
    return (
      <Section
        title="All entries"
        aside={
          <button type="button" onClick={() => showAll(false)}>
            Only this step
          </button>
        }
      >
        <div class="all-entries">
          <EventsPanel {...props} />
        </div>
      </Section>
    );
  return (
    <Section
      title="Raw"
      aside={
        <button type="button" onClick={() => showAll(true)}>
          All entries
        </button>
      }
    >
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          {pluralize(Math.max(1, until - from + 1), 'entry').replace('entrys', 'entries')}{' '}
          <span class="muted">
            {formatNumber(from)}
            {until > from && ` to ${formatNumber(until)}`}
          </span>
        </summary>
        {isOpen && <Entries key={`${from} ${until}`} {...props} from={from} to={Math.max(from, until)} />}
      </details>
    </Section>
  );
}

function showAll(is: boolean): void {
  search.isShown.value = is;
}

const PAGE = 50;

function Entries({ view: { run, log, fold }, from, to }: PanelProps & { readonly from: number; readonly to: number }) {
  const [shown, show] = useState(PAGE);
  const seqs = Array.from({ length: Math.min(shown, to - from + 1) }, (_, index) => from + index);
  return (
    <>
      <ol class="entries">
        {seqs.map((seq) => (
          <Entry key={seq} log={log} kind={run.kind} seq={seq} atMs={fold.timeLine.atMs(seq)} />
        ))}
      </ol>
      {from + shown <= to && <LinkButton onClick={() => show(shown + PAGE)}>show more</LinkButton>}
    </>
  );
}

interface EntryProps {
  readonly log: PanelProps['view']['log'];
  readonly kind: PanelProps['view']['run']['kind'];
  readonly seq: number;
  readonly atMs: number;
}

function Entry({ log, kind, seq, atMs }: EntryProps) {
  const [isOpen, setOpen] = useState(false);
  const entry = log.entry(seq);
  return (
    <li>
      <button type="button" class="plain" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="muted">
          {formatNumber(seq)} · {formatTime(atMs)}
        </span>{' '}
        <b>{excerpt(entry.type, 24)}</b> <span class="verbatim">{entryLine(entry, kind)}</span>
      </button>
      {isOpen && <JsonTree value={entry} />}
    </li>
  );
}
