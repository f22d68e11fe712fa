import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { excerpt, revealHidden } from '../../fold/text.ts';
import { GUARD_RESULTS, Icon } from '../../icon.tsx';
import { EntryLink } from '../entry-link.tsx';
import type { PanelProps } from '../panel.tsx';
import './why.css';
import type { Thresholds } from '../../../machines/contracts/limits.ts';
import { runStart } from '../../fold/answer.ts';
import type { ComparedValue, ExplainedCandidate, ExplainedTransition, WhyFact } from '../../fold/explain.ts';
import { formatScore, humanize } from '../../fold/format.ts';
import { capWords, flipWords, limitWords, meaningOf } from '../../fold/guard-words.ts';
import { transitionsAround } from '../../fold/transition-log.ts';
import { entryToExplain, ignoredEvents, type WhyView, why } from '../../fold/why.ts';
import { LongText } from '../long-text.tsx';

export function WhyPanel({ inspector, view }: PanelProps) {
  const [isOfMachine, setOfMachine] = useState(false);
  const at = entryToExplain(view, view.selection, inspector.cursor.value === null);
  const { heading, facts, compared, outcome, caused, transition } = why({ ...view, at });
  const { moveTo } = inspector;
  const { log, fold } = view;
  const machine = transition?.machine ?? null;
  const { earlier, later } = transitionsAround(fold.transitions, {
    before: transition !== null && transition.seq <= at ? transition.seq : at,
    after: at,
    machine: isOfMachine ? machine : null,
  });
  return (
    <div class="why">
      <h2 class="verbatim one-line" title={revealHidden(heading)}>
        {revealHidden(heading)}
      </h2>
      <div class="steps row">
        <Step to={earlier} moveTo={moveTo}>
          <Icon name="arrow-left" /> Earlier
        </Step>
        <Step to={later} moveTo={moveTo}>
          Later <Icon name="arrow-right" />
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
      <div class="explained stack" key={at}>
        {outcome !== null && (
          <p class={outcome.isIgnored ? 'outcome is-ignored' : 'outcome'}>{revealHidden(outcome.words)}</p>
        )}
        <WhyFacts facts={facts} />
        <ComparedValues guard="nextPhaseChosen" compared={compared} />
        {caused.length > 0 && (
          <ol class="caused" aria-label="Transitions it caused">
            {caused.map(({ seq, source, target }) => (
              <li key={seq}>
                <EntryLink seq={seq} moveTo={moveTo}>
                  {seq}
                </EntryLink>{' '}
                <span class="verbatim">
                  {revealHidden(source.name)} <Icon name="arrow-right" />{' '}
                  {target.length === 0 ? 'stays' : target.map((to) => revealHidden(to.name)).join(', ')}
                </span>
              </li>
            ))}
          </ol>
        )}
        {transition !== null && (
          <TransitionCard
            transition={transition}
            at={at}
            thresholds={runStart(log)?.thresholds ?? null}
            moveTo={moveTo}
          />
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
      {children} <span class="visually-hidden">transition</span>
    </button>
  );
}

function IgnoredList({ view, moveTo }: { readonly view: WhyView; readonly moveTo: (seq: number) => void }) {
  const { events, more } = ignoredEvents(view);
  if (events.length === 0) return null;
  return (
    <section class="ignored" aria-label="Ignored events">
      <h3>Ignored events ({more ? `${events.length} or more` : events.length})</h3>
      <ul>
        {events.map(({ seq, name, why }) => (
          <li key={seq}>
            <EntryLink seq={seq} moveTo={moveTo} isCurrent={seq === view.at}>
              {seq}
            </EntryLink>{' '}
            <span class="verbatim">{revealHidden(name)}</span> <span class="muted">{why}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Props {
  readonly transition: ExplainedTransition;
  readonly at: number;
  readonly thresholds: Thresholds | null;
  readonly moveTo: (seq: number) => void;
}

function TransitionCard({ transition, at, thresholds, moveTo }: Props) {
  const { seq, machine, event, source, target, description, candidates } = transition;
  const by = candidates.length > 1 ? candidates.find(({ result }) => result === 'taken') : undefined;
  return (
    <section class="card transition" aria-label="Transition">
      <p class="endpoints">
        <span class="verbatim">{revealHidden(source.path)}</span> <Icon name="arrow-right" />{' '}
        <span class="visually-hidden">to</span>
        <b class="verbatim">
          {target.length === 0 ? 'stays' : target.map(({ path }) => revealHidden(path)).join(', ')}
        </b>
      </p>
      <p class="muted">
        {by !== undefined && (
          <>
            {by.name === null ? 'because no other candidate held' : 'by '}
            {by.name !== null && <b class="verbatim by">{revealHidden(by.guard)}</b>},{' '}
          </>
        )}
        {event.startsWith('at once') ? '' : 'on '}
        <span class="verbatim event">{revealHidden(event)}</span>, in {revealHidden(machine)},{' '}
        {seq === at ? <>entry {seq}</> : <EntryLink seq={seq} moveTo={moveTo} />}
      </p>
      {description !== '' && <p class="described verbatim">{revealHidden(description)}</p>}
      {candidates.length === 0 ? (
        <p class="only">Only one transition was possible.</p>
      ) : (
        <CandidateList candidates={candidates} thresholds={thresholds} />
      )}
    </section>
  );
}

interface CandidateListProps {
  readonly candidates: readonly ExplainedCandidate[];
  readonly thresholds: Thresholds | null;
}

/** The candidate that was taken, then those tried before it, and on request those that were not tried. */
function CandidateList({ candidates, thresholds }: CandidateListProps) {
  const taken = candidates.filter(({ result }) => result === 'taken');
  const tried = candidates.filter(({ result }) => result === 'false');
  const rest = candidates.filter(({ result }) => result === 'not-evaluated');
  const items = (all: readonly ExplainedCandidate[]) =>
    all.map((candidate) => <CandidateItem key={candidate.index} candidate={candidate} thresholds={thresholds} />);
  return (
    <>
      <ol class="candidates" aria-label="Candidates">
        {items(taken)}
        {items(tried)}
      </ol>
      {rest.length > 0 && (
        <details class="rest">
          <summary>
            {rest.length} more {rest.length === 1 ? 'candidate was' : 'candidates were'} not tried
          </summary>
          <ol class="candidates" aria-label="Candidates not tried">
            {items(rest)}
          </ol>
        </details>
      )}
    </>
  );
}

interface CandidateItemProps {
  readonly candidate: ExplainedCandidate;
  readonly thresholds: Thresholds | null;
}

function CandidateItem({ candidate, thresholds }: CandidateItemProps) {
  const { index, guard, name, result, compared, target } = candidate;
  const inputs = Object.fromEntries(compared.map((one) => [one.name, one.value]));
  const flip = name === null || result === 'not-evaluated' ? null : flipWords(name, compared, result === 'taken');
  const cap = name === 'confidenceReached' ? capWords(inputs, thresholds) : null;
  return (
    <li class={result} value={index + 1} aria-current={result === 'taken' ? 'true' : undefined}>
      <Icon name={GUARD_RESULTS[result].icon} />
      <div>
        <div class="candidate">
          <span class="guard verbatim" title={name ?? undefined}>
            {revealHidden(guard)}
          </span>
          <span class="target">
            <Icon name="arrow-right" />{' '}
            {target.length === 0 ? 'stays' : target.map((state) => revealHidden(state.name)).join(', ')}
          </span>
          <span class="result">{GUARD_RESULTS[result].word}</span>
        </div>
        <ComparedValues guard={name ?? ''} compared={compared} />
        {cap !== null && <p class="flip">{cap}</p>}
        {flip !== null && <p class="flip">{flip}</p>}
      </div>
    </li>
  );
}

const MAX_CHARS = 1_200;

function WhyFacts({ facts }: { readonly facts: readonly WhyFact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="facts">
      {facts.map(({ label, text, verbatim }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={verbatim ? 'verbatim' : undefined}>
            <LongText text={text} chars={MAX_CHARS} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ComparedValuesProps {
  readonly guard: string;
  readonly compared: readonly ComparedValue[];
}

function ComparedValues({ guard, compared }: ComparedValuesProps) {
  if (compared.length === 0) return null;
  return (
    <ul class="compared-values" aria-label="Compared values">
      {compared.map((one) => {
        const { name, value, limit, share } = one;
        const words = limitWords(guard, one);
        const meaning = meaningOf(name);
        return (
          <li key={name}>
            <span class="muted verbatim" title={meaning === null ? undefined : name}>
              {meaning ?? revealHidden(humanize(name))}:
            </span>{' '}
            <b class="verbatim mono">{describeValue(value, limit?.value ?? null)}</b>
            {words !== null && (
              <span title={words.setting ?? undefined}>
                {'; '}
                {words.needs}
              </span>
            )}
            {share !== null && (
              <span class="share" aria-hidden="true">
                <span class="share-value" style={{ width: `${share.value * 100}%` }} />
                <span class="share-limit" style={{ left: `${share.limit * 100}%` }} />
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function describeValue(value: ComparedValue['value'], limit: number | null): string {
  if (typeof value === 'number') return formatScore(value, limit);
  if (value === null) return 'none';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value === '' ? '(empty)' : excerpt(value, 80);
}
