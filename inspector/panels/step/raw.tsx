import { useState } from 'preact/hooks';
import { entryTrouble } from '../../../src/chain/presentation/entry-words.ts';
import { formatNumber, formatTime } from '../../fold/format.ts';
import { shownEntries } from '../../fold/system-step.ts';
import { excerpt } from '../../fold/text.ts';
import { LinkButton } from '../../link-button.tsx';
import { entryLine } from '../../ui-state/entry-line.ts';
import { JsonTree } from '../json-tree.tsx';
import type { PanelProps } from '../panel.tsx';
import { Folded, Section } from '../parts.tsx';

export function Raw(props: PanelProps) {
  const { fold, run, selection, at, count } = props.view;
  const isSystem = run.kind === 'system';
  const { from, to } = isSystem ? shownEntries(fold, selection, count) : selection;
  const size = Math.max(1, (isSystem ? to : Math.min(to, at)) - from + 1);
  return (
    <Section title="Raw">
      <Folded
        summary={
          <>
            Journal {size > 1 ? 'entries' : 'entry'}{' '}
            <span class="muted">
              {formatNumber(from)}
              {size > 1 && ` to ${formatNumber(from + size - 1)}`}
            </span>
          </>
        }
        content={() => <Entries {...props} from={from} size={size} />}
      />
    </Section>
  );
}

const PAGE = 50;

function Entries({ inspector, view, from, size }: PanelProps & { readonly from: number; readonly size: number }) {
  const [shown, show] = useState(PAGE);
  const seqs = Array.from({ length: Math.min(shown, size) }, (_, place) => from + place);
  return (
    <>
      <ol class="entries small">
        {seqs.map((seq) => (
          <Entry key={seq} inspector={inspector} view={view} seq={seq} />
        ))}
      </ol>
      {shown < size && <LinkButton onClick={() => show(shown + PAGE)}>show more</LinkButton>}
    </>
  );
}

function Entry({ inspector, view, seq }: PanelProps & { readonly seq: number }) {
  const { log, fold, at } = view;
  const [isOpen, open] = useState(false);
  const entry = log.entry(seq);
  return (
    <li class="labeled">
      <LinkButton aria-current={seq === at} onClick={() => inspector.moveTo(seq)}>
        {formatNumber(seq)}
      </LinkButton>
      <button type="button" class="plain" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
        <span class="muted">{formatTime(fold.timeLine.atMs(seq))}</span> <b>{excerpt(entry.type, 24)}</b>{' '}
        <span class={`verbatim ${entryTrouble(entry) === 'failed' ? 'wrong' : ''}`}>{entryLine(entry, view)}</span>
      </button>
      {isOpen && <JsonTree value={entry} />}
    </li>
  );
}
