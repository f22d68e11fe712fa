import { useMemo } from 'preact/hooks';
import { actorEntryWords } from '../../../src/chain/presentation/entry-words.ts';
import type { DurableEvent } from '../../../src/durable/entries.ts';
import type { SystemState } from '../../../src/inspection/wire.ts';
import { endReportedBy } from '../../fold/actor-entries.ts';
import { humanizeEvent } from '../../fold/explain.ts';
import { forkStart, receivedText } from '../../fold/fork-point.ts';
import { clockText, formatDelay, formatNumber, pluralize } from '../../fold/format.ts';
import { isOver } from '../../fold/step-title.ts';
import { contextsAfter, receivedSelection, type SystemStep, selectedCall, systemStep } from '../../fold/system-step.ts';
import { systemWaits } from '../../fold/system-waits.ts';
import { actorName } from '../../fold/system-words.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import type { PanelView } from '../../ui-state/inspector.ts';
import { EntryLink } from '../entry-link.tsx';
import { Facts } from '../facts.tsx';
import { JsonTree } from '../json-tree.tsx';
import type { PanelProps } from '../panel.tsx';
import { clockStart } from '../trace/use-clock.ts';
import { Section } from './section.tsx';
import { Taken } from './why.tsx';

const MAX_SHOWN = 24;

/** How an actor ended, as the words after its name. */
const END_WORDS = { done: 'finished', error: 'failed', stopped: 'was stopped' } as const;

const verbatim = (text: string) => text !== '' && <span class="verbatim">{text}</span>;

/** What an actor of any machine did with one event, or what a call of it returned. */
export function ActorStep({ inspector, view }: PanelProps) {
  const { fold, selection, count, stateCount, charts } = view;
  const call = selectedCall(fold, selection);
  const step = useMemo(() => systemStep(view), [fold, selection, count, stateCount, charts]);
  const contexts = <Contexts view={view} step={step} isLatest={inspector.cursor.value === null} />;
  if (call !== undefined)
    return (
      <>
        <Call inspector={inspector} view={view} />
        {contexts}
      </>
    );
  return (
    <>
      <EventMembers step={step} />
      {step.ignored !== null && <Ignored {...step.ignored} />}
      {step.transitions.length > 0 && <Transitions view={view} step={step} />}
      <Ends inspector={inspector} view={view} step={step} />
      {!isParked(view, step) && contexts}
      <Started inspector={inspector} view={view} step={step} />
      <Waited view={view} step={step} />
    </>
  );
}

interface PartProps {
  readonly view: PanelView;
  readonly step: SystemStep;
}

/** What an approval's event is matched by, which its entry shows. Its decision, reason and author are what a person gave. */
const APPROVAL_IDS: readonly string[] = ['id', 'digest', 'shownDigest'];

function EventMembers({ step: { event } }: Pick<PartProps, 'step'>) {
  // The result of a call is shown as such.
  if (event === null || endReportedBy(event.actor, event.event.type) !== null) return null;
  const { type, ...members } = event.event;
  if (Object.keys(members).length === 0) return null;
  const isTechnical = (name: string): boolean => type === 'approval.given' && APPROVAL_IDS.includes(name);
  return (
    <Section title="Event">
      <JsonTree value={Object.fromEntries(Object.entries(members).filter(([name]) => !isTechnical(name)))} />
    </Section>
  );
}

function Ignored({ words, states, events }: NonNullable<SystemStep['ignored']>) {
  return (
    <Section title="Why did nothing happen?">
      <p class="warn verbatim">{excerpt(words, 400)}</p>
      <Facts
        facts={[
          ['Current states', verbatim(excerpt(states.join(', '), 600))],
          ['Accepted events', verbatim(excerpt(states.length === 0 ? '' : events.join(', ') || 'none', 600))],
        ]}
      />
    </Section>
  );
}

function Transitions({ view: { at }, step: { transitions } }: PartProps) {
  return (
    <Section title={transitions.length === 1 ? 'Transition' : 'Transitions'}>
      <ol class="stack" aria-label="Transitions">
        {transitions.slice(0, MAX_SHOWN).map((transition) => (
          <li key={transition.seq}>
            <Taken
              transition={transition}
              moves={transition.moves}
              about={[
                transition.trigger,
                transition.actor && `in ${transition.actor}`,
                // The chart shows the states before it.
                transition.seq > at && `not taken until entry ${formatNumber(transition.seq)}`,
              ]
                .filter(Boolean)
                .join(', ')}
            />
            {transition.actions !== '' && <p class="muted verbatim">Actions: {excerpt(transition.actions, 300)}</p>}
          </li>
        ))}
      </ol>
      {transitions.length > MAX_SHOWN && (
        <p class="muted">and {pluralize(transitions.length - MAX_SHOWN, 'more transition')}</p>
      )}
    </Section>
  );
}

const MAX_ENDS = 12;

/** The outputs and errors of the actors that ended in the step. */
function Ends({ inspector, view, step: { from, to } }: PanelProps & PartProps) {
  const ends = view.fold.actors.filter(({ end }) => end !== null && end.seq >= from && end.seq <= to).slice(-MAX_ENDS);
  if (ends.length === 0) return null;
  const { seqs } = view.fold.transitions;
  // The entries after the last transition of an actor that failed or was stopped do not show why.
  const isCut =
    view.fold.entries.typeOf(from) === 'end' && ends.some(({ path, end }) => path === '' && end?.status !== 'done');
  const lastStep = isCut ? view.fold.externalEvents.stepOf(seqs.at(-1) ?? 0).from : null;
  return (
    <Section title="Result">
      {ends.map(({ path, machine, end }) => (
        <div key={`${end?.seq} ${path}`}>
          <p>
            <b class="verbatim">{excerpt((path === '' && machine) || actorName(view, path), 60)}</b>{' '}
            <span class={end?.status === 'error' ? 'wrong' : ''}>
              {path === '' && end?.status === 'done' ? 'ended' : END_WORDS[end?.status ?? 'stopped']}
            </span>
          </p>
          <Values output={end?.output} error={end?.error} />
        </div>
      ))}
      {lastStep !== null && (
        <p class="muted">
          Its last step:{' '}
          <EntryLink seq={lastStep} moveTo={(seq) => inspector.select(receivedSelection(view.fold, seq, view.count))}>
            {receivedText(view, lastStep)}
          </EntryLink>
        </p>
      )}
    </Section>
  );
}

function Values({ output, error }: { readonly output: unknown; readonly error: unknown }) {
  return (
    <>
      {error !== undefined && (
        <div class="wrong">
          <JsonTree value={error} />
        </div>
      )}
      {/* A machine without an output has null. */}
      {output != null && <JsonTree value={output} />}
    </>
  );
}

const MAX_FIELDS = 25;

/** What the step changed in the contexts of the machines, and the whole contexts on request. */
function Contexts({ view: { fold, stateCount }, step, isLatest }: PartProps & { readonly isLatest: boolean }) {
  const all = useMemo(() => contextsAfter(fold, step), [fold, step, stateCount]);
  const before = fold.states.at(step.from - 1) as SystemState | null;
  if (fold.states.at(step.until) === null) return null;
  return (
    <Section title="Context">
      {all.length === 0 && <p class="muted">This machine has no context.</p>}
      {all.length > 0 && !isLatest && all.every(({ fields }) => fields.length === 0) && <p class="muted">No change.</p>}
      {all.map(({ path, name, fields, context }) => (
        <div key={path}>
          {all.length > 1 && <h3 class="verbatim">{excerpt(name, 60)}</h3>}
          <ul class="stack">
            {fields.slice(0, MAX_FIELDS).map(({ path: field, before, after }) => (
              <li key={field} class="verbatim">
                <code>{excerpt(field, 120)}</code>: <del>{jsonExcerpt(before, 160)}</del> <Icon name="arrow-right" />{' '}
                <ins>{jsonExcerpt(after, 160)}</ins>
              </li>
            ))}
          </ul>
          {fields.length > MAX_FIELDS && (
            <p class="muted">and {pluralize(fields.length - MAX_FIELDS, 'more change')}</p>
          )}
          {fields.length > 0 && before?.[path]?.context != null && (
            <details>
              <summary>The whole context before this step</summary>
              <JsonTree value={before[path].context} />
            </details>
          )}
          <details open={isLatest}>
            <summary>The whole context after this step</summary>
            <JsonTree value={context} />
          </details>
        </div>
      ))}
    </Section>
  );
}

/** Calls, timers and effects that the step started. */
function Started({ inspector, view, step: { calls, timers, others } }: PanelProps & PartProps) {
  if (calls.length + timers.length + others.length === 0) return null;
  const { fold } = view;
  const forkedAt = forkStart(view) ?? -1;
  /** A timer that a fork has copied before it fired is due on the clock of the fork. */
  const isOfFork = ({ seq, actor, event, dueMs }: (typeof timers)[number]): boolean =>
    seq < forkedAt && fold.transitions.dueAt(actor, event, forkedAt) === dueMs;
  return (
    <Section title="Started">
      <ul>
        {calls.slice(0, MAX_SHOWN).map(({ seq, actor }) => (
          <li key={seq} class="verbatim">
            Call{' '}
            <EntryLink seq={seq} moveTo={inspector.moveTo}>
              {excerpt(actorName(view, actor), 80)}
            </EntryLink>
          </li>
        ))}
        {timers.slice(0, MAX_SHOWN).map((timer) => (
          <li key={timer.seq} class="verbatim">
            Timer {excerpt(humanizeEvent(timer.event), 80)}
            {timer.isCancelled
              ? ', cancelled in this step'
              : dueWords(view, isOfFork(timer) ? forkedAt : timer.seq, timer.dueMs)}
            {!timer.isCancelled && isOfFork(timer) && ' in this fork'}
          </li>
        ))}
        {others.slice(0, MAX_SHOWN).map((entry) => (
          <li key={entry.seq} class="verbatim">
            {excerpt(actorEntryWords(entry as unknown as DurableEvent), 300)}
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** With seconds, and milliseconds if it is soon: the time of the step has them, too. */
function dueWords(view: PanelView, seq: number, dueMs: number): string {
  const [day, time, ms] = clockText(new Date(clockStart(view, seq) + dueMs), new Date(Number.NaN));
  return time === '' ? '' : `, due ${day}${time}${dueMs - view.fold.timeLine.atMs(seq) < 60_000 ? ms : ''}`;
}

const isParked = ({ fold }: PanelView, { from }: SystemStep): boolean => fold.entries.typeOf(from) === 'closed';

/** What the machines waited for after a step of the past, or since they were parked; the head has what they wait for now. */
function Waited({ view, step }: PartProps) {
  const { run, fold, charts, count, at } = view;
  const seq = Math.max(at, step.to);
  const all = systemWaits(fold, charts, seq).slice(0, MAX_ENDS);
  const facts = all.flatMap(({ machine, events, timers, actors, ends }) => {
    const rows = [
      ['Events', events.join(', ')],
      ['Timers', [...new Set(timers.map(({ delay }) => formatDelay(delay)))].join(', ')],
      ['The end of', [...new Set([...actors, ...ends])].join(', ')],
    ] as const;
    return rows.map(
      ([label, text]) => [all.length > 1 ? `${machine}: ${label.toLowerCase()}` : label, verbatim(text)] as const,
    );
  });
  const isLatest = !isOver(run) && seq >= count - 1;
  if ((isLatest && !isParked(view, step)) || facts.every(([, text]) => text === false)) return null;
  return (
    <Section title={isLatest ? 'Waits for' : 'Waited for'}>
      <Facts facts={facts} />
    </Section>
  );
}

/** A call: what it returned. A journal has only a digest of its input. */
function Call({ inspector, view }: PanelProps) {
  const { fold, selection, at, log } = view;
  const call = selectedCall(fold, selection);
  const entry = log.entry(selection.from) as unknown as Extract<DurableEvent, { type: 'activity-start' }>;
  const end = call?.end != null && call.end.seq <= Math.max(at, selection.to) ? call.end : null;
  const { from } = fold.externalEvents.stepOf(selection.from);
  return (
    <>
      <Section title="Result">
        {end === null && call?.end != null ? (
          <p class="muted">
            Not at this point. It {END_WORDS[call.end.status]} in{' '}
            <EntryLink seq={call.end.seq} moveTo={inspector.moveTo}>
              entry {formatNumber(call.end.seq)}
            </EntryLink>
            .
          </p>
        ) : end === null ? (
          <p class="muted">{isOver(view.run) ? 'It was stopped before it returned.' : 'It has not returned yet.'}</p>
        ) : end.output == null && end.error === undefined ? (
          <p class="muted">{end.status === 'done' ? 'It returned nothing.' : 'It was stopped.'}</p>
        ) : (
          <Values output={end.output} error={end.error} />
        )}
      </Section>
      <Section title="Why">
        <p>
          Started by{' '}
          <EntryLink seq={from} moveTo={inspector.moveTo}>
            the step of entry {formatNumber(from)}
          </EntryLink>
          .
        </p>
        {entry.subject != null && <JsonTree value={entry.subject} />}
        {entry.inputDigest && (
          <p class="muted">Its input is not recorded, only the digest {excerpt(entry.inputDigest, 40)}.</p>
        )}
      </Section>
    </>
  );
}
