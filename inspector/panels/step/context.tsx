import { useState } from 'preact/hooks';
import { type ContextChange, type ContextChanges, contextChanges, contextSizeAt } from '../../fold/context-changes.ts';
import { capitalize, formatNumber, pluralize } from '../../fold/format.ts';
import { excerpt } from '../../fold/text.ts';
import { Toggle } from '../../link-button.tsx';
import type { PanelView } from '../../ui-state/inspector.ts';
import { Section } from '../parts.tsx';

/** What the step did to the context, and how full it is; nothing if it did nothing. */
export function Context({ view: { log, fold, selection, at } }: { readonly view: PanelView }) {
  const groups = contextChanges(log, fold, selection, at);
  const size = contextSizeAt(log, fold, Math.min(selection.to, at));
  if (groups.length === 0) return null;
  return (
    <Section title="Context">
      {groups.map((group) => (
        <Changes key={`${group.proposedBy} ${group.appliedBy}`} {...group} />
      ))}
      {size !== null && (
        <p class="muted">
          <meter min={0} max={size.allowed} value={size.tokens} aria-label="Size of the context" />{' '}
          {formatNumber(size.tokens)} of {pluralize(size.allowed, 'token')} at the last measurement
          {size.isEstimated && ' (estimated)'}
          {size.problem !== null && <span class="verbatim">; not measured: {excerpt(size.problem, 200)}</span>}
        </p>
      )}
    </Section>
  );
}

const MAX_SHOWN = 20;
const KINDS = ['removed', 'shortened', 'added', 'labeled'] as const;

function Changes({ proposedBy, appliedBy, isAppliedHere, changes }: ContextChanges) {
  const [isExpanded, setExpanded] = useState(false);
  const sorted = KINDS.flatMap((kind) => changes.filter((change) => change.kind === kind));
  const counts = KINDS.flatMap((kind) => {
    const count = changes.filter((change) => change.kind === kind).length;
    return count === 0 ? [] : [`${formatNumber(count)} ${kind}`];
  });
  const when =
    appliedBy === null
      ? 'not applied yet'
      : isAppliedHere && appliedBy !== proposedBy
        ? `decided in ${capitalize(proposedBy)}`
        : `applied at the end of ${capitalize(appliedBy)}`;
  return (
    <div>
      <h3>
        {counts.join(', ')} <span class="muted">{when}</span>
      </h3>
      <ul class="stack">
        {sorted.slice(0, isExpanded ? sorted.length : MAX_SHOWN).map((change, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a message may change twice; the list keeps its order
          <Change key={index} {...change} />
        ))}
      </ul>
      {sorted.length > MAX_SHOWN && (
        <Toggle isOpen={isExpanded} open={setExpanded} more={`show all ${formatNumber(sorted.length)}`} />
      )}
    </div>
  );
}

function Change({ kind, messageId, text, size, reason, isUndone }: ContextChange) {
  return (
    <li class={kind}>
      <b>{kind}</b> <span class="verbatim">{text === '' ? excerpt(messageId, 60) : `“${excerpt(text, 140)}”`}</span>{' '}
      <span class="muted verbatim">
        {[size, excerpt(reason, 200), isUndone ? 'undone by the user' : ''].filter(Boolean).join('; ')}
      </span>
    </li>
  );
}
