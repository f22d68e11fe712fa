import { lastName } from '../../fold/chart-index.ts';
import type { ComparedValue } from '../../fold/explain.ts';
import { capitalize, formatNumber, pluralize, UNNAMED } from '../../fold/format.ts';
import { comparedText, guardTitle, limitWords, valueText, valueTitle } from '../../fold/guard-words.ts';
import { lastStartedBy } from '../../fold/sorted.ts';
import { stepCalls } from '../../fold/step.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import {
  calledAgainBecause,
  type ExplainedCandidate,
  type ExplainedTransition,
  enteredBecause,
  entryToExplain,
  type StepReasons,
  why,
} from '../../fold/why.ts';
import { Icon, WithArrows } from '../../icon.tsx';
import type { PanelView } from '../../ui-state/inspector.ts';
import type { PanelProps } from '../panel.tsx';
import { Facts, Section } from '../parts.tsx';

/** Why the step happened: a sentence for phases and calls, the compared numbers for decisions and transitions. */
export function Why(props: PanelProps) {
  const { view } = props;
  const { kind } = view.selection;
  if (kind === 'phase' || kind === 'attempt') return <Cause view={view} />;
  if (kind === 'capability' || kind === 'retrieval' || kind === 'operations') return null;
  return <Explanation {...props} />;
}

function Cause({ view: { log, fold, selection, at } }: { readonly view: PanelView }) {
  const phase = selection.kind === 'phase' ? lastStartedBy(fold.spans.phases, selection.to) : undefined;
  const call = stepCalls(fold, selection, at)?.selected.span;
  const words = phase ? enteredBecause(log, fold, phase) : call && calledAgainBecause(log, fold, call);
  return (
    words && (
      <Section title="Why">
        <p class="verbatim">{excerpt(words, 600)}</p>
      </Section>
    )
  );
}

function Explanation({ view }: PanelProps) {
  const { kind } = view.selection;
  const { words, facts, outcome, compared, degraded, transitions } = why({
    ...view,
    at: entryToExplain(view, view.selection),
  });
  const decided = transitions.length === 1 ? transitions[0] : undefined;
  const from = kind === 'state' || decided === undefined ? '' : lastName(decided.source);
  const isOwn = decided !== undefined && from !== '' && view.run.kind === 'run';
  return (
    <Section title="Why">
      {degraded.length > 0 && (
        <ul class="stack" aria-label="Why it is degraded">
          {degraded.map(({ text, compared: values }) => (
            <li key={text}>
              <span class="warn verbatim">{excerpt(text, 600)}</span>
              <Values compared={values} />
            </li>
          ))}
        </ul>
      )}
      {words !== '' && <p class="verbatim">{excerpt(words, 1_200)}</p>}
      {outcome !== null && <p class={outcome.isIgnored ? 'warn' : ''}>{revealHidden(outcome.words)}</p>}
      {facts.length > 0 && <Facts facts={facts.map(([label, text]) => [label, excerpt(text, 600)])} />}
      {isOwn && from === 'deciding' ? (
        <Decision all={decided.candidates} compared={compared} />
      ) : isOwn && from === 'recovering' ? (
        <>
          <p>A phase failed or was stopped. The first rule that applies decides how the run continues:</p>
          <Decision all={decided.candidates.map(afterFailure)} compared={[]} />
        </>
      ) : (
        transitions.length > 0 && <Transitions transitions={transitions} at={view.at} />
      )}
    </Section>
  );
}

interface TransitionsProps {
  readonly transitions: readonly ExplainedTransition[];
  readonly at: number;
}

const MAX_SHOWN = 24;

/** Transitions, each with its event and the candidates for it. */
export const Transitions = ({ transitions, at }: TransitionsProps) => (
  <>
    <ol class="stack" aria-label="Transitions">
      {transitions.slice(0, MAX_SHOWN).map(({ seq, source, moves, about, description, actions, candidates }) => (
        <li key={seq} class="stack">
          <p>
            <b class="verbatim">
              <WithArrows text={moves || `${lastName(source)} → stays`} />
            </b>{' '}
            <span class="muted verbatim">
              {revealHidden(about)}
              {/* The chart shows the states before it. */}
              {seq > at && `, not taken until entry ${formatNumber(seq)}`}
            </span>
          </p>
          {description !== '' && <p class="muted verbatim">{revealHidden(description)}</p>}
          {candidates.length > 0 && <Candidates all={candidates} />}
          {actions !== '' && <p class="muted verbatim">Actions: {excerpt(actions, 300)}</p>}
        </li>
      ))}
    </ol>
    {transitions.length > MAX_SHOWN && <p class="muted">and {transitions.length - MAX_SHOWN} more transitions</p>}
  </>
);

/** Guards that only choose how to decide; they are not shown as reasons. */
const PREPARING: ReadonlySet<string> = new Set(['gradingWanted', 'comparisonWanted', 'directionWanted']);

/** A rule about a failed phase, without values that only name the failure other than by its stage. */
const afterFailure = ({ guard, compared, ...candidate }: ExplainedCandidate): ExplainedCandidate => ({
  ...candidate,
  guard: candidate.name === null ? 'Otherwise, the answer is written from what there is' : guard,
  compared: compared.filter(({ name, value }) => name === 'stage' || /number|boolean/u.test(typeof value)),
});

/** The rules of Yield in a decision; the one that held also has the numbers that no other rule has. */
function Decision({ all, compared }: Pick<CandidatesProps, 'all'> & Pick<StepReasons, 'compared'>) {
  const rules = all.filter(
    ({ name, result }) =>
      result === 'taken' ||
      (result === 'false' && name !== null && !PREPARING.has(name) && !name.startsWith('nextPhaseIs(')),
  );
  const shown = new Set(rules.flatMap((candidate) => candidate.compared.map(({ name }) => name)));
  const others = compared.filter(({ name, limit }) => limit !== null && !shown.has(name));
  const isChoice = ({ name, result }: ExplainedCandidate): boolean =>
    result === 'taken' && name?.startsWith('nextPhaseIs(') === true;
  return <Candidates all={rules.map((rule) => (isChoice(rule) ? { ...rule, compared: others } : rule))} isRule />;
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
      .map((candidate) => <Candidate key={candidate.index} {...candidate} isRule={isRule} />);
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

const ICONS = { taken: 'check', false: 'minus', 'not-evaluated': 'dot' } as const;
const RESULTS = { taken: 'held', false: 'did not hold', 'not-evaluated': 'not tried' } as const;

type CandidateProps = ExplainedCandidate & { readonly isRule: boolean };

function Candidate({ index, guard, name, result, compared, target, isRule }: CandidateProps) {
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
                <Icon name="arrow-right" /> <span class="verbatim">{revealHidden(target)}</span>
              </>
            )}
          </span>
        </p>
        <Values compared={compared} />
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
