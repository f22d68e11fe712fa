import type { ExplainedCandidate } from '../../fold/explain-transition.ts';
import { visible } from '../../ui-state/text.ts';
import { Icon } from '../icon.tsx';
import { VERDICTS } from '../verdicts.ts';
import { SeenNumbers } from './seen-numbers.tsx';

/** All ways that there were, in their order: what each guard said, and by which numbers. */
export function CandidateList({ candidates }: { readonly candidates: readonly ExplainedCandidate[] }) {
  return (
    <ol class="candidates" aria-label="Candidates">
      {candidates.map(({ place, guard, name, verdict, saw, target }) => (
        <li key={place} class={verdict} aria-current={verdict === 'taken' ? 'true' : undefined}>
          <Icon name={VERDICTS[verdict].icon} />
          <div>
            <div class="candidate">
              <span class="guard told" title={name ?? undefined}>
                {visible(guard)}
              </span>
              <span class="way">
                <Icon name="leads" /> {target.length === 0 ? 'stays' : target.map((state) => state.name).join(', ')}
              </span>
              <span class="verdict">{VERDICTS[verdict].word}</span>
            </div>
            <SeenNumbers saw={saw} />
          </div>
        </li>
      ))}
    </ol>
  );
}
