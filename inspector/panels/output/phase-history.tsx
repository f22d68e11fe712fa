import { phasesOfCycle } from '../../fold/phases-of-cycle.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { shortly } from '../../ui-state/text.ts';

/** The phases of the cycle so far, and what each came to, a line each; there is room for a full cycle from the first. */
export function PhaseHistory({ view, moveTo }: { readonly view: RunView; readonly moveTo: (seq: number) => void }) {
  const phases = phasesOfCycle(view.log, view.fold.spans, view.at);
  const [first] = phases;
  if (first === undefined) return null;
  return (
    <section class="phases" aria-label={`Phases of cycle ${first.cycle}`}>
      <h3>Cycle {first.cycle}</h3>
      <ol>
        {phases.map(({ from, phase, status, summary }) => (
          <li key={from}>
            <button type="button" class="quiet" onClick={() => moveTo(from)}>
              {phase}
            </button>{' '}
            {status !== 'done' && <span class={status === 'failed' ? 'wrong-word' : 'muted'}>{status}</span>}{' '}
            <span class="told muted" title={shortly(summary, 400)}>
              {shortly(summary, 160)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
