import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { shortly, visible } from '../../ui-state/text.ts';
import { Icon, VERDICTS } from '../icon.tsx';
import type { PanelProps } from '../panel.tsx';
import './why.css';
import type { ExplainedCandidate, ExplainedTransition, SeenNumber, WhyFact } from '../../fold/explain.ts';
import { transitionsAround } from '../../fold/transition-log.ts';
import { ignoredEvents, type WhyView, why } from '../../fold/why.ts';
import { LongText } from '../long-text.tsx';

/**
 * Explains the entry at the cursor: the event, the candidates with guard results and compared values, and the
 * transition.
 */
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
          {machine === null ? 'one actor only' : `${machine} only`}
        </label>
      </div>
      {/* Keyed by entry: nothing is reused between explanations. */}
      <div class="explained" key={at}>
        {outcome !== null && (
          <p class={outcome.isIgnored ? 'outcome is-ignored' : 'outcome'}>{visible(outcome.words)}</p>
        )}
        <WhyFacts facts={facts} />
        <SeenNumbers saw={saw} />
        {led.length > 0 && (
          <ol class="led" aria-label="Transitions it caused">
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

/** The events ignored up to the cursor. */
function IgnoredList({ view, moveTo }: { readonly view: WhyView; readonly moveTo: (seq: number) => void }) {
  const { events, more } = ignoredEvents(view);
  if (events.length === 0) return null;
  return (
    <section class="ignored" aria-label="Ignored events">
      <h3>Ignored events ({more ? `${events.length} or more` : events.length})</h3>
      <ul>
        {events.map(({ seq, name, why }) => (
          <li key={seq}>
            <button type="button" class="quiet" onClick={() => moveTo(seq)} aria-current={seq === view.at}>
              {seq}
            </button>{' '}
            <span class="told">{visible(name)}</span> <span class="muted">{why}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Props {
  readonly transition: ExplainedTransition;
  readonly at: number;
  readonly isInferred: boolean;
  readonly moveTo: (seq: number) => void;
}

/** One transition: source, targets, event and candidates. */
function TransitionCard({ transition, at, isInferred, moveTo }: Props) {
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
            {by.name === null ? 'because no other candidate held' : 'by '}
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
        <p class="only">The only transition: no other candidates.</p>
      ) : (
        <CandidateList candidates={candidates} />
      )}
      {isInferred && <p class="muted">Inferred from the new state: guard results are not sent.</p>}
    </section>
  );
}

/** All candidates in order, with guard results and compared values. */
function CandidateList({ candidates }: { readonly candidates: readonly ExplainedCandidate[] }) {
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

const MOST_CHARS = 1_200;

function WhyFacts({ facts }: { readonly facts: readonly WhyFact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(({ label, text, said }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={said ? 'told' : undefined}>
            <LongText text={text} chars={MOST_CHARS} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The values that a guard saw, each beside the limit that it was compared with. */
function SeenNumbers({ saw }: { readonly saw: readonly SeenNumber[] }) {
  if (saw.length === 0) return null;
  return (
    <ul class="saw" aria-label="Compared values">
      {saw.map(({ name, value, limit, share }) => (
        <li key={name}>
          <span class="muted">{name}</span> <b class="told mono">{spelled(value)}</b>
          {limit !== null && (
            <>
              {' '}
              <span class="muted">{SIDES[limit.name] ?? limit.name}</span> <b class="mono">{spelled(limit.value)}</b>
            </>
          )}
          {share !== null && (
            <span class="share" aria-hidden="true">
              <span class="share-value" style={{ width: `${share.value * 100}%` }} />
              <span class="share-limit" style={{ left: `${share.limit * 100}%` }} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Shows a value against its threshold. */
const SIDES: Readonly<Record<string, string>> = { above: 'must be above', below: 'must be below' };

function spelled(value: SeenNumber['value']): string {
  if (typeof value === 'number') return value.toLocaleString('en-US', { maximumFractionDigits: 4 });
  if (value === null) return 'none';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value === '' ? '(empty)' : shortly(value, 80);
}
