import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { visible } from '../../ui-state/text.ts';
import { Icon } from '../icon.tsx';
import type { PanelProps } from '../panel-props.ts';
import './why.css';
import { transitionsAround } from '../../fold/transition-steps.ts';
import { why } from '../../fold/why.ts';
import { IgnoredList } from './ignored-list.tsx';
import { SeenNumbers } from './seen-numbers.tsx';
import { TransitionCard } from './transition-card.tsx';
import { WhyFacts } from './why-facts.tsx';

/** Why it stands where it does: what came, what was asked, what every guard saw and said, and what was taken. */
export function WhyPanel({ inspector, view }: PanelProps) {
  const [isOfMachine, setOfMachine] = useState(false);
  const { heading, facts, saw, outcome, led, transition } = why(view);
  const { moveTo } = inspector;
  const { run, at, fold } = view;
  const machine = transition?.machine ?? null;
  const { earlier, later } = transitionsAround(fold.transitions, {
    before: transition !== null && transition.seq <= at ? transition.seq : at,
    after: at,
    machine: isOfMachine ? machine : null,
  });
  return (
    <div class="why">
      <h2 class="told" title={visible(heading)}>
        {visible(heading)}
      </h2>
      <div class="steps">
        <Step to={earlier} moveTo={moveTo}>
          <Icon name="led-from" /> Earlier
        </Step>
        <Step to={later} moveTo={moveTo}>
          Later <Icon name="leads" />
        </Step>
        <label>
          <input
            type="checkbox"
            checked={isOfMachine}
            disabled={machine === null}
            onChange={({ currentTarget }) => setOfMachine(currentTarget.checked)}
          />{' '}
          {machine === null ? 'one machine only' : `${machine} only`}
        </label>
      </div>
      {/* Each entry has an explanation of its own: nothing of one moves to where another's stands. */}
      <div class="explained" key={at}>
        {outcome !== null && (
          <p class={outcome.isIgnored ? 'outcome is-ignored' : 'outcome'}>{visible(outcome.words)}</p>
        )}
        <WhyFacts facts={facts} />
        <SeenNumbers saw={saw} />
        {led.length > 0 && (
          <ol class="led" aria-label="Transitions that it led to">
            {led.map(({ seq, source, target }) => (
              <li key={seq}>
                <button type="button" class="quiet" onClick={() => moveTo(seq)}>
                  {seq}
                </button>{' '}
                <span class="told">
                  {visible(source.name)} <Icon name="leads" />{' '}
                  {target.length === 0 ? 'the same' : target.map((to) => visible(to.name)).join(', ')}
                </span>
              </li>
            ))}
          </ol>
        )}
        {transition !== null && (
          <TransitionCard transition={transition} at={at} isInferred={run.kind === 'system'} moveTo={moveTo} />
        )}
      </div>
      <IgnoredList view={view} moveTo={moveTo} />
    </div>
  );
}

interface StepProps {
  readonly to: number | undefined;
  readonly moveTo: (seq: number) => void;
  readonly children: ComponentChildren;
}

function Step({ to, moveTo, children }: StepProps) {
  return (
    <button type="button" disabled={to === undefined} onClick={() => to !== undefined && moveTo(to)}>
      {children} <span class="unseen">transition</span>
    </button>
  );
}
