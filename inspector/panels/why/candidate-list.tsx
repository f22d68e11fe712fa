import type { ToldCandidate } from '../../fold/told-transition.ts';
import { visible } from '../../shown/text.ts';
import { Icon } from '../icon.tsx';
import { SeenNumbers } from './seen-numbers.tsx';

const VERDICTS = {
  taken: { mark: 'check', word: 'taken' },
  false: { mark: 'cross', word: 'false' },
  'not-evaluated': { mark: 'dot', word: 'not evaluated' },
} as const;

/** All ways that there were, in their order: what each guard said, and by which numbers. */
export function CandidateList({ candidates }: { readonly candidates: readonly ToldCandidate[] }) {
  return (
    <ol class="candidates" aria-label="Candidates">
      {candidates.map(({ place, guard, name, verdict, saw, target }) => (
        <li key={place} class={verdict} aria-current={verdict === 'taken' ? 'true' : undefined}>
          <Icon name={VERDICTS[verdict].mark} />
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
