import { calledAgainBecause, enteredBecause, toolsEndedBecause } from '../../fold/entered-because.ts';
import type { ComparedValue, ExplainedCandidate, ExplainedTransition } from '../../fold/explain.ts';
import { capitalize, pluralize, UNNAMED } from '../../fold/format.ts';
import { comparedText, flipWords, guardTitle, limitWords, valueText, valueTitle } from '../../fold/guard-words.ts';
import { lastStartedBy } from '../../fold/sorted.ts';
import { stepCalls } from '../../fold/step.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import { type StepReasons as Explained, entryToExplain, why } from '../../fold/why.ts';
import { Icon, WithArrows } from '../../icon.tsx';
import type { PanelView } from '../../ui-state/inspector.ts';
import { EntryLink } from '../entry-link.tsx';
import { Facts } from '../facts.tsx';
import type { PanelProps } from '../panel.tsx';
import { Section } from './section.tsx';

/** Why the step happened: a sentence for phases and calls, the compared numbers for decisions and transitions. */
export function Why(props: PanelProps) {
  const { view } = props;
  const { kind } = view.selection;
  if (kind === 'phase' || kind === 'attempt' || kind === 'capability') return <Sentences view={view} />;
  if (kind === 'retrieval' || kind === 'operations') return null;
  return <Explanation {...props} />;
}

function Sentences({ view: { log, fold, selection, at } }: { readonly view: PanelView }) {
  const { kind, from, to } = selection;
  const phase = kind === 'phase' ? lastStartedBy(fold.spans.phases, to) : undefined;
  const calls = kind === 'attempt' ? stepCalls(fold, selection, at) : null;
  const sentences = [
    ...(phase === undefined ? [] : [enteredBecause(log, fold, phase)]),
    ...(calls === null ? [] : [calledAgainBecause(log, fold, calls.selected.span)]),
    ...(kind === 'attempt' ? [] : toolsEndedBecause(log, fold, from, Math.min(to, at))),
  ].filter((sentence) => sentence !== null);
  if (sentences.length === 0) return null;
  return (
    <Section title="Why">
      {sentences.map((sentence) => (
        <p key={sentence} class="verbatim">
          {excerpt(sentence, 600)}
        </p>
      ))}
    </Section>
  );
}

function Explanation({ inspector, view }: PanelProps) {
  const at = entryToExplain(view, view.selection);
  const explained = why({ ...view, at });
  const { words, facts, outcome, caused, transition } = explained;
  const isOwn = view.selection.kind !== 'state';
  return (
    <Section title="Why">
      {words !== '' && <p class="verbatim">{excerpt(words, 1_200)}</p>}
      {outcome !== null && <p class={outcome.isIgnored ? 'warn' : ''}>{revealHidden(outcome.words)}</p>}
      {facts.length > 0 && <Facts facts={facts.map(([label, text]) => [label, excerpt(text, 600)])} />}
      {caused.length > 0 && (
        <ol aria-label="Transitions it caused">
          {caused.map(({ seq, source, target }) => (
            <li key={seq}>
              <EntryLink seq={seq} moveTo={inspector.moveTo}>
                <Path source={source} target={target} />
              </EntryLink>
            </li>
          ))}
        </ol>
      )}
      {isOwn && transition?.source.name === 'deciding' ? (
        <Decision explained={explained} />
      ) : (
        transition !== null && <Taken transition={transition} />
      )}
    </Section>
  );
}

function Path({ source, target }: Pick<ExplainedTransition, 'source' | 'target'>) {
  return (
    <span class="verbatim">
      {revealHidden(source.path)} <Icon name="arrow-right" />{' '}
      {target.length === 0 ? 'stays' : target.map(({ path }) => revealHidden(path)).join(', ')}
    </span>
  );
}

interface TakenProps {
  readonly transition: ExplainedTransition;
  /** Default: its event and its machine. */
  readonly about?: string;
  /** Its states, as the trace has them. */
  readonly moves?: string;
}

/** A transition with its event, and the candidates for it. */
export function Taken({ transition, about, moves = '' }: TakenProps) {
  const { machine, event, description, candidates } = transition;
  return (
    <section class="stack" aria-label="Transition">
      <p>
        <b class="verbatim">{moves === '' ? <Path {...transition} /> : <WithArrows text={moves} />}</b>{' '}
        <span class="muted verbatim">
          {revealHidden(about ?? `${event.startsWith('without an event') ? '' : 'on '}${event}, in ${machine}`)}
        </span>
      </p>
      {description !== '' && <p class="muted verbatim">{revealHidden(description)}</p>}
      {candidates.length > 0 && <Candidates all={candidates} />}
    </section>
  );
}

/** Guards that only choose how to decide; they are not shown as reasons. */
const PREPARING: ReadonlySet<string> = new Set(['gradingWanted', 'comparisonWanted', 'directionWanted']);

/** The rules of Yield in a decision; the one that held also has the numbers that no other rule has. */
function Decision({ explained: { transition, compared } }: { readonly explained: Explained }) {
  const all = (transition?.candidates ?? []).filter(
    ({ name, result }) =>
      result === 'taken' ||
      (result === 'false' && name !== null && !PREPARING.has(name) && !name.startsWith('nextPhaseIs(')),
  );
  const shown = new Set(all.flatMap((candidate) => candidate.compared.map(({ name }) => name)));
  const others = compared.filter(({ name, limit }) => limit !== null && !shown.has(name));
  const rules = all.map((candidate) => {
    const isChoice = candidate.result === 'taken' && candidate.name?.startsWith('nextPhaseIs(') === true;
    return { ...candidate, target: [], compared: isChoice ? others : candidate.compared };
  });
  return <Candidates all={rules} isRule />;
}

interface CandidatesProps {
  readonly all: readonly ExplainedCandidate[];
  /** Of Yield: its words say where it leads. */
  readonly isRule?: boolean;
}

/** The candidates in the order in which they were tried, the taken one last; on request those that were not tried. */
function Candidates({ all, isRule = false }: CandidatesProps) {
  const of = (wasTried: boolean) =>
    all
      .filter(({ result }) => (result !== 'not-evaluated') === wasTried)
      .map((candidate) => <Candidate key={candidate.index} candidate={candidate} isRule={isRule} />);
  const rest = of(false);
  return (
    <>
      <ol class="candidates stack" aria-label="Candidates">
        {of(true)}
      </ol>
      {rest.length > 0 && (
        <details>
          <summary>{pluralize(rest.length, 'more candidate')} not tried</summary>
          <ol class="candidates stack" aria-label="Candidates not tried">
            {rest}
          </ol>
        </details>
      )}
    </>
  );
}

interface CandidateProps {
  readonly candidate: ExplainedCandidate;
  readonly isRule: boolean;
}

const ICONS = { taken: 'check', false: 'minus', 'not-evaluated': 'dot' } as const;
const RESULTS = { taken: 'held', false: 'did not hold', 'not-evaluated': 'not tried' } as const;

function Candidate({ candidate, isRule }: CandidateProps) {
  const { index, guard, name, result, compared, target } = candidate;
  const flip = name === null || result === 'not-evaluated' ? null : flipWords(name, compared, result === 'taken');
  return (
    <li class={`labeled ${result}`} value={index + 1} aria-current={result === 'taken' ? 'true' : undefined}>
      <Icon name={ICONS[result]} />
      <div>
        <p>
          <span class="title verbatim">{revealHidden(name === null ? guard : guardTitle(name))}</span>{' '}
          <span class="muted">
            {guard !== 'no condition' && RESULTS[result]}
            {!isRule && name !== null && name !== UNNAMED && <code class="verbatim"> {revealHidden(name)}</code>}{' '}
            {!isRule && (
              <>
                <Icon name="arrow-right" />{' '}
                <span class="verbatim">
                  {target.length === 0 ? 'stays' : target.map((state) => revealHidden(state.name)).join(', ')}
                </span>
              </>
            )}
          </span>
        </p>
        <Values compared={compared} />
        {flip !== null && <p class="muted">{flip}</p>}
      </div>
    </li>
  );
}

/** Values with their limits, then those without one on a line. */
function Values({ compared }: { readonly compared: readonly ComparedValue[] }) {
  const limited = compared.filter(({ limit }) => limit !== null);
  const others = compared.filter(({ limit }) => limit === null);
  if (compared.length === 0) return null;
  return (
    <ul class="values" aria-label="Compared values">
      {limited.map((one) => (
        <li key={one.name}>
          <span class="verbatim">{capitalize(revealHidden(valueTitle(one.name)))}</span> <b>{comparedText(one)}</b>,{' '}
          {limitWords(one)}
          {one.share !== null && (
            <span class="share" aria-hidden="true" style={{ '--value': one.share.value, '--limit': one.share.limit }} />
          )}
        </li>
      ))}
      {others.length > 0 && (
        <li class="muted">
          {others.map(({ name, value }, index) => (
            <span key={name} class="verbatim">
              {index > 0 && ' · '}
              {revealHidden(valueTitle(name))}: {valueText(value, null)}
            </span>
          ))}
        </li>
      )}
    </ul>
  );
}
