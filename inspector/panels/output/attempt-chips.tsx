import type { AttemptAt } from '../../fold/attempt-at.ts';
import { duration } from '../../fold/number-words.ts';

interface Props {
  readonly attempts: readonly AttemptAt[];
  readonly chosen: AttemptAt;
  readonly choose: (from: number) => void;
}

/** The attempts at one value, and the waits between them: one of them is open. */
export function AttemptChips({ attempts, chosen, choose }: Props) {
  if (attempts.length < 2) return null;
  return (
    <fieldset class="chips">
      <legend class="unseen">Attempts</legend>
      {attempts.map(({ span, status, backOffMs }) => (
        <span key={span.from}>
          <button
            type="button"
            class={`chip ${status.replace(' ', '-')}`}
            aria-pressed={span === chosen.span}
            onClick={() => choose(span.from)}
          >
            {span.attempt}: {status}
          </button>
          {backOffMs !== null && (
            <span class="muted wait"> {backOffMs === 0 ? 'at once' : `wait ${duration(backOffMs)}`} ›</span>
          )}
        </span>
      ))}
    </fieldset>
  );
}
