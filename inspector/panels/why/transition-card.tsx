import type { ExplainedTransition } from '../../fold/explain-transition.ts';
import { visible } from '../../ui-state/text.ts';
import { Icon } from '../icon.tsx';
import { CandidateList } from './candidate-list.tsx';

interface Props {
  readonly transition: ExplainedTransition;
  readonly at: number;
  readonly isInferred: boolean;
  readonly moveTo: (seq: number) => void;
}

/** One transition: from where to where, on what, and which others could have been taken. */
export function TransitionCard({ transition, at, isInferred, moveTo }: Props) {
  const { seq, machine, event, source, target, description, candidates } = transition;
  const by = candidates.length > 1 ? candidates.find(({ verdict }) => verdict === 'taken') : undefined;
  return (
    <section class="card transition" aria-label="Transition">
      <p class="way-taken">
        <span class="told">{visible(source.path)}</span> <Icon name="leads" /> <span class="unseen">to</span>
        <b class="told">{target.length === 0 ? 'the same' : target.map(({ path }) => visible(path)).join(', ')}</b>
      </p>
      <p class="muted">
        {by !== undefined && (
          <>
            {by.name === null ? 'as nothing else held' : 'by '}
            {by.name !== null && <b class="told by">{visible(by.guard)}</b>},{' '}
          </>
        )}
        {event.startsWith('at once') ? '' : 'on '}
        <span class="told event">{visible(event)}</span>, in {machine},{' '}
        {seq === at ? (
          <>entry {seq}</>
        ) : (
          <button type="button" class="quiet" onClick={() => moveTo(seq)}>
            entry {seq}
          </button>
        )}
      </p>
      {description !== '' && <p class="described told">{visible(description)}</p>}
      {candidates.length === 0 ? (
        <p class="only">The only way: there was nothing to choose.</p>
      ) : (
        <CandidateList candidates={candidates} />
      )}
      {isInferred && <p class="muted">Inferred from where it went: what guards said is not sent.</p>}
    </section>
  );
}
