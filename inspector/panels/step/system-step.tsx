import { useMemo } from 'preact/hooks';
import { actorEntryWords } from '../../../src/chain/presentation/entry-words.ts';
import type { DurableEvent } from '../../../src/durable/entries.ts';
import type { SystemState } from '../../../src/inspection/wire.ts';
import { endReportedBy } from '../../fold/actor-entries.ts';
import { humanizeEvent } from '../../fold/explain.ts';
import { capitalize, clockText } from '../../fold/format.ts';
import { isOver } from '../../fold/step-title.ts';
import {
  contextsAfter,
  questionsOf,
  type SystemStep,
  selectedCall,
  selectedEffect,
  stepName,
  systemStep,
} from '../../fold/system-step.ts';
import { rootCauseOf, thrownBy } from '../../fold/system-trace.ts';
import { actorName, answerText, eventMembers } from '../../fold/system-words.ts';
import { excerpt, jsonExcerpt } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { LinkButton } from '../../link-button.tsx';
import type { PanelView } from '../../ui-state/inspector.ts';
import { JsonTree } from '../json-tree.tsx';
import type { PanelProps } from '../panel.tsx';
import { ActorLink, Facts, Folded, Section } from '../parts.tsx';
import { clockStart } from '../trace/use-clock.ts';
import { Transitions } from './why.tsx';

const MAX_SHOWN = 24;

/** `Nov 22, 22:14:05.250` */
export const clockOf = (view: PanelView, seq: number): string =>
  clockText(new Date(clockStart(view, seq) + view.fold.timeLine.atMs(seq)), new Date(Number.NaN)).join('');

/** How an actor ended, as the words after its name. */
const END_WORDS = { done: 'finished', error: 'failed', stopped: 'was stopped' } as const;

const verbatim = (text: string) => text !== '' && <span class="verbatim">{text}</span>;

/** What an actor of any machine did with one event, or what a call of it returned. */
export function ActorStep({ inspector, view }: PanelProps) {
  const { fold, selection, count, stateCount, charts } = view;
  const call = selectedCall(fold, selection);
  const step = useMemo(() => systemStep(view), [fold, selection, count, stateCount, charts]);
  const isLatest = inspector.cursor.value === null;
  if (call !== undefined)
    return (
      <>
        <Call inspector={inspector} view={view} />
        <Contexts view={view} step={step} isLatest isOfCall />
      </>
    );
  const effect = selectedEffect(fold, selection);
  if (effect !== null)
    return (
      <>
        {effect.thrown && (
          <Section title="Result">
            <Values output={null} error={effect.thrown.error} />
          </Section>
        )}
        <Section title="Why">
          <Cause inspector={inspector} view={view} word="Executed" />
        </Section>
      </>
    );
  const { event } = step;
  // The result of a call is shown as such.
  const isResult = event === null || endReportedBy(event.actor, event.event.type) !== null;
  const members = isResult ? [] : eventMembers(event.event);
  return (
    <>
      {members.length > 0 && (
        <Section title="Event">
          <JsonTree value={Object.fromEntries(members)} />
        </Section>
      )}
      {step.ignored !== null && (
        <Section title="Why did nothing happen?">
          <p class="warn verbatim">{excerpt(step.ignored.words, 400)}</p>
          <Facts facts={step.ignored.facts.map(([label, text]) => [label, verbatim(excerpt(text, 600))])} />
        </Section>
      )}
      {step.transitions.length > 0 && (
        <Section title={step.transitions.length === 1 ? 'Transition' : 'Transitions'}>
          <Transitions transitions={step.transitions} at={view.at} />
        </Section>
      )}
      <Ends view={view} step={step} />
      <Contexts view={view} step={step} isLatest={isLatest} />
      <Started inspector={inspector} view={view} step={step} />
    </>
  );
}

interface PartProps {
  readonly view: PanelView;
  readonly step: SystemStep;
}

const MAX_ENDS = 12;

/** The outputs and errors of the actors that ended in the step. */
function Ends({ view, step: { from, to } }: PartProps) {
  const ended = view.fold.actors.filter(({ end }) => end !== null && end.seq >= from && end.seq <= to).slice(-MAX_ENDS);
  const ends = [...new Set(ended.flatMap((actor) => [rootCauseOf(view, actor) ?? [], actor].flat()))];
  if (ends.length === 0) return null;
  return (
    <Section title="Result">
      {ends.map((actor) => {
        const { path, machine, end, child } = actor;
        const thrown = path === '' ? thrownBy(view, actor) : null;
        const status = path === '' && end?.status === 'done' ? 'completed' : END_WORDS[end?.status ?? 'stopped'];
        return (
          <div key={`${end?.seq} ${path}`}>
            <p>
              <b class="verbatim">{excerpt(thrown ?? ((path === '' && machine) || actorName(view, path)), 60)}</b>{' '}
              <span class={end?.status === 'error' ? 'wrong' : ''}>{thrown === null ? status : 'threw'}</span>{' '}
              {child !== null && <ActorLink id={child} />}
            </p>
            <Values output={end?.output} error={end?.error} />
          </div>
        );
      })}
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

interface ContextsProps extends PartProps {
  readonly isLatest: boolean;
  /** The step that started a call has changed the context, not the call. */
  readonly isOfCall?: boolean;
}

/** What the step changed in the contexts of the machines, and the whole contexts on request. */
function Contexts({ view: { fold, stateCount }, step, isLatest, isOfCall = false }: ContextsProps) {
  const after = useMemo(() => contextsAfter(fold, step), [fold, step, stateCount]);
  const all = isOfCall ? after.map((one) => ({ ...one, fields: [] })) : after;
  const before = fold.states.at(step.from - 1) as SystemState | null;
  if (fold.states.at(step.until) === null) return null;
  return (
    <Section title={isOfCall ? 'Context at the call' : 'Context'}>
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
          {fields.length > MAX_FIELDS && <p class="muted">and {fields.length - MAX_FIELDS} more changes</p>}
          {fields.length > 0 && before?.[path]?.context != null && (
            <Folded
              summary="The whole context before this step"
              content={() => <JsonTree value={before[path]?.context} />}
            />
          )}
          <Folded
            isOpenFirst={isLatest}
            summary={isOfCall ? 'The whole context' : 'The whole context after this step'}
            content={() => <JsonTree value={context} />}
          />
        </div>
      ))}
    </Section>
  );
}

function Started({ inspector, view, step: { calls, timers, others } }: PanelProps & PartProps) {
  if (calls.length + timers.length + others.length === 0) return null;
  const { fold } = view;
  const forkedAt = fold.timeLine.forkStart ?? -1;
  /** A timer that a fork has copied before it fired is due on the clock of the fork. */
  const isOfFork = ({ seq, actor, event, dueMs }: (typeof timers)[number]): boolean =>
    seq < forkedAt && fold.transitions.dueAt(actor, event, forkedAt) === dueMs;
  return (
    <Section title="Started">
      <ul>
        {calls.slice(0, MAX_SHOWN).map(({ seq, actor }) => (
          <li key={seq} class="verbatim">
            Call <LinkButton onClick={() => inspector.moveTo(seq)}>{excerpt(actorName(view, actor), 80)}</LinkButton>
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
            {excerpt(actorEntryWords(entry as unknown as DurableEvent), 300)}{' '}
            {entry.type === 'effect' && <ChildLink view={view} path={entry.actor} />}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function ChildLink({ view, path }: Pick<PanelProps, 'view'> & { readonly path: string }) {
  const { child = null } = view.fold.actors.findLast((one) => one.path === path) ?? {};
  return child === null ? null : <ActorLink id={child} />;
}

/** With seconds, and milliseconds if it is soon: the time of the step has them, too. */
function dueWords(view: PanelView, seq: number, dueMs: number): string {
  const [day, time, ms] = clockText(new Date(clockStart(view, seq) + dueMs), new Date(Number.NaN));
  return time === '' ? '' : `, due ${day}${time}${dueMs - view.fold.timeLine.atMs(seq) < 60_000 ? ms : ''}`;
}

function Cause({ inspector, view, word }: PanelProps & { readonly word: string }) {
  const { from } = view.fold.entries.stepOf(view.selection.from);
  return (
    <p>
      {word} by {(view.fold.entries.typeOf(view.selection.from) as string) === 'retried' && 'the retry of '}
      <LinkButton onClick={() => inspector.moveTo(from)}>{stepName(view.fold, from) || 'an event'}</LinkButton>.
    </p>
  );
}

/** A call: what it returned. A journal has only a digest of its input, which a replay computes again. */
function Call({ inspector, view }: PanelProps) {
  const { fold, selection, at, log } = view;
  const call = selectedCall(fold, selection);
  const entry = log.entry(selection.from) as unknown as Extract<DurableEvent, { type: 'activity-start' }>;
  const end = call?.end != null && call.end.seq <= Math.max(at, selection.to) ? call.end : null;
  const answer = end === null || call === undefined ? '' : answerText(log, call);
  const asked = call === undefined || selection.actor === undefined ? [] : questionsOf(view, call);
  return (
    <>
      <Section title="Result">
        {answer !== '' && <p class="verbatim">{capitalize(answer)}</p>}
        {end === null && call?.end != null ? (
          <p class="muted">
            Not at this point.{' '}
            <LinkButton onClick={() => call.end && inspector.moveTo(call.end.seq)}>
              It {END_WORDS[call.end.status]} later
            </LinkButton>
            .
          </p>
        ) : end === null ? (
          <p class="muted">{isOver(view.run) ? 'It was stopped before it returned.' : 'It has not returned yet.'}</p>
        ) : end.output == null && answer !== '' ? null : end.output == null && end.error === undefined ? (
          <p class="muted">{end.status === 'done' ? 'It returned nothing.' : 'It was stopped.'}</p>
        ) : (
          <Values output={end.output} error={end.error} />
        )}
      </Section>
      {asked.length > 0 && (
        <Section title="Question">
          {asked.map(({ id, question }) => (
            <JsonTree key={id} value={question} />
          ))}
        </Section>
      )}
      <Section title="Why">
        <Cause inspector={inspector} view={view} word="Started" />
        {call?.child && (
          <p>
            It has a journal of its own: <ActorLink id={call.child} />
          </p>
        )}
        {!call?.child && entry.subject != null && <JsonTree value={entry.subject} />}
        {entry.inputDigest && (
          <p class="muted">
            Its input is not in the journal: a replay computes it again, from the context below and the event. Digest:{' '}
            <span class="verbatim">{excerpt(entry.inputDigest, 40)}</span>
          </p>
        )}
      </Section>
    </>
  );
}
