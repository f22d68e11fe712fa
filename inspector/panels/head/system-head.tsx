import { Fragment } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { StartEntry } from '../../../src/durable/entries.ts';
import type { ActorWait, InspectedRun } from '../../../src/inspection/wire.ts';
import { eventFields } from '../../fold/event-fields.ts';
import { capitalize, formatDelay, formatDuration, humanize, pluralize, startedText } from '../../fold/format.ts';
import { type ReachedState, reachedStates } from '../../fold/reached.ts';
import { dueText, durationOf, isDue, namesText, queuedWords, statusWords, waitedText } from '../../fold/run-list.ts';
import { isOver } from '../../fold/step-title.ts';
import { eventCounts } from '../../fold/summary.ts';
import { stepStarts } from '../../fold/system-step.ts';
import { retriedText, rootCauseOf, thrownBy } from '../../fold/system-trace.ts';
import { answersLeadTo, type MachineWaits, systemWaits } from '../../fold/system-waits.ts';
import { actorName, changedFields, errorText } from '../../fold/system-words.ts';
import { excerpt, jsonExcerpt, lowerFirst } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import { LinkButton } from '../../link-button.tsx';
import type { PanelView } from '../../ui-state/inspector.ts';
import { isPhone } from '../../ui-state/media.ts';
import { useIsPast, useNow } from '../../ui-state/use-now.ts';
import { ForkMark, RunFacts } from '../header/run-details.tsx';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';
import { ActorLink } from '../parts.tsx';
import { clockStart } from '../trace/use-clock.ts';
import { ActorEventForm, OTHER_EVENT } from './actor-events.tsx';
import { ActorToolbar, blockedText } from './actor-toolbar.tsx';
import { QuestionForm } from './approval-form.tsx';
import { Countdown } from './countdown.tsx';
import { sender } from './sending.tsx';

const WHY: Readonly<Record<string, string>> = {
  interrupted: 'its process ended before the actor did',
  disconnected: 'its program has ended or closed the connection',
};

/** The head of a system of another program, or of a durable actor: its state and why, what can happen next, and what one can do. */
export function SystemHead({ inspector, view }: PanelProps) {
  const { run, fold, charts, count } = view;
  const over = isOver(run);
  const waits = !over && charts !== null && count > 0 ? systemWaits(fold, charts, count - 1) : [];
  const problem = view.end?.problem ?? run.problem;
  const { label, tone } = statusWords(run);
  const blocked = blockedText(inspector, view);
  const isActor = run.machine !== undefined;
  const reached = count === 0 ? [] : reachedStates(view, run.machine ?? fold.actors[0]?.machine ?? '', count - 1);
  const isShown = (text: string): boolean => reached.some(({ because }) => because.includes(text));
  const failed = failureWords(view);
  const failure = excerpt(failed.words, 400);
  const states = reached.map((one) => ({ ...one, because: one.because.replace(`: ${failed.cause?.error}`, '') }));
  const due = useIsPast(run.waiting?.dueAtMs ?? null) && !run.exportedAt ? dueText(run, Date.now()) : null;
  const nowMs = useNow(30_000);
  const waited = run.exportedAt === undefined && run.status !== 'interrupted' ? waitedText(run, nowMs) : null;
  const end = fold.actors[0]?.end;
  const [chosen, choose] = useState<string | null>(null);
  const canRead = inspector.connection.value === 'open' && Object.hasOwn(inspector.machines.value, run.machine ?? '');
  const [forkAt, fork] = useState<number | null>(null);
  const repaired = fold.entries.of('retried' as 'end').at(-1);
  const { parent } = (count > 0 ? view.log.entry(0) : {}) as Pick<StartEntry, 'parent'>;
  return (
    <div class="run-head system">
      <h1 class="verbatim">{excerpt(run.title, 300) || 'Untitled'}</h1>
      <p class="verdict" role="status">
        <b class={`word ${tone}`}>{capitalize(label)}</b>
        {run.quarantined === undefined
          ? (Object.hasOwn(WHY, run.status) && `: ${WHY[run.status]}`) ||
            (run.queued && `: ${queuedWords(run, inspector.runs.value)}`)
          : `: ${excerpt(run.quarantined, 400)}. No worker continues it until it is released.`}
        {run.waiting && run.status !== 'interrupted' && ` since ${startedText(run.waiting.sinceMs)}`}
        {waited !== null && ` (${waited})`}
        {due !== null && (
          <>
            , <b class="wrong">{due}</b>
          </>
        )}
        {over && end && ` ${startedText(clockStart(view, end.seq) + fold.timeLine.atMs(end.seq)) ?? ''}`}
        {repaired !== undefined && (
          <>
            {' · '}
            <a href={`#/run/${encodeURIComponent(run.runId)}/${repaired}`}>{repairText(view, repaired)}</a>
          </>
        )}
        {run.forkedFrom !== undefined && ' · '}
        <ForkMark inspector={inspector} view={view} />
        {parent !== undefined && (
          <>
            {' · child process of '}
            <ActorLink id={parent.actorId} />
          </>
        )}
      </p>
      {problem && (
        <p class="verbatim" role="alert">
          {excerpt(problem, 400)}
        </p>
      )}
      {run.queued === undefined && <States view={view} states={states} />}
      {failure !== '' && !isShown(failure) && (
        <p class="verbatim">
          {run.status !== 'degraded' && 'Earlier: '}
          {failure}{' '}
          {failed.cause && canRead && (
            <LinkButton onClick={() => fork(failed.cause.from)}>
              Fork before {failed.cause.name} to call it again
            </LinkButton>
          )}
        </p>
      )}
      {over && end?.status === 'done' && end.output != null && (
        <p>
          <span class="muted">Output:</span> <LongText text={jsonExcerpt(end.output, 4_000)} chars={240} />
        </p>
      )}
      <div class="acts">
        {!over && run.queued === undefined && <Next {...{ inspector, view, waits, blocked, chosen, choose }} />}
        {due !== null && isDue(run, nowMs) && (
          <p class="muted">
            Not fired: no process has continued it since it was parked.
            {blocked === null && ' Fire it here, or run a worker.'}
          </p>
        )}
        {blocked !== null && <p class="muted verbatim">{excerpt(blocked, 400)}</p>}
      </div>
      {isActor && inspector.connection.value !== 'file' && (
        <ActorToolbar {...{ inspector, view, blocked, canRead, forkAt }} onOpen={() => choose(null)} onFork={fork} />
      )}
      <Figures view={view} />
      {run.fidelity.length > 0 && (
        <details>
          <summary>Limits of this recording</summary>
          <RunFacts run={run} />
        </details>
      )}
    </div>
  );
}

/** `retried charge; it failed again`, `skipped charge, with "paid by hand"`: the last repair. */
function repairText(view: PanelView, seq: number): string {
  const { isSkipped } = view.log.entry(seq) as { readonly isSkipped?: boolean };
  const end = view.fold.actors[0]?.end;
  const again = end?.status === 'error' && end.seq > seq ? '; it failed again' : '';
  return `${isSkipped ? 'skipped' : 'retried'} ${excerpt(retriedText(view, seq), 200)}${again}`;
}

/** What ended the actor: `charge failed: TypeError: card declined`. If a failed call led to an action that threw, the call is its `cause`. */
function failureWords(view: PanelView) {
  const { run, fold } = view;
  const text = (run.ending?.failure ?? '').replace(`${run.runId} failed: `, '');
  const [root, ...others] = fold.actors;
  if (root?.end?.status !== 'error') return { words: text };
  const [at, { name }] = [root.end.seq, Object(root.end.error) as { readonly name?: unknown }];
  const thrown = thrownBy(view, root);
  const call =
    thrown === null
      ? others.findLast(({ machine, end }) => machine === null && end?.status === 'error' && end.seq <= at)
      : rootCauseOf(view, root);
  const error = call?.end?.status === 'error' ? errorText(call.end.error) : '';
  const callWords = call === undefined ? '' : `${actorName(view, call.path)} failed: `;
  if (thrown !== null) {
    const words = `threw: ${errorText(root.end.error)}`;
    if (call === undefined) return { words: `${thrown} ${words}` };
    const cause = { error, name: excerpt(actorName(view, call.path), 60), from: call.started ?? call.from };
    return { words: `Root cause: ${callWords}${error}. The ${lowerFirst(thrown)} then ${words}`, cause };
  }
  const isOwn = error !== '' && error === errorText(root.end.error);
  return {
    words: `${isOwn ? callWords : ''}${typeof name === 'string' && name !== 'Error' ? `${name}: ` : ''}${text}`,
  };
}

function Figures({ view: { run, fold, count } }: Pick<PanelProps, 'view'>) {
  const { received, answers, ignored } = eventCounts(fold);
  const figures = [
    run.machine === undefined
      ? pluralize(fold.transitions.machines.length, 'machine')
      : `actor of ${excerpt(run.machine, 80)}`,
    ...(received > 0 || answers === 0 ? [`${pluralize(received, 'event')} received`] : []),
    ...(answers > 0 ? [`${pluralize(answers, 'approval')} answered`] : []),
    ...(ignored > 0 ? [`${ignored} ignored`] : []),
    pluralize(stepStarts(fold).length, 'step'),
    // While it waits, the trace has the time.
    ...(!isOver(run) || count === 0
      ? []
      : [formatDuration(durationOf(run, Date.now()) ?? fold.timeLine.atMs(count - 1))]),
  ];
  return (
    <p class="figures dotted muted small">
      {figures.map((figure) => (
        <span key={figure}>{figure}</span>
      ))}
    </p>
  );
}

function States({ view, states }: Pick<PanelProps, 'view'> & { readonly states: readonly ReachedState[] }) {
  const { run, fold, selection } = view;
  if (states.length === 0) return null;
  const isLater = (fold.transitions.seqs.at(-1) ?? 0) > selection.to;
  const words = ENDED_IN[run.status] ?? (isLater ? 'Now in' : 'In');
  return (
    <ul class="waits row">
      {states.slice(0, MAX_STATES).map(({ path, seq, because }) => (
        <li key={path} class="verbatim">
          {words} <b>{excerpt(path, 80)}</b>
          {isPhone.value && states.length > MAX_STATES / 2 ? null : seq === null ? (
            !isOver(run) && `, ${because}`
          ) : (
            <>
              , <a href={`#/run/${encodeURIComponent(run.runId)}/${seq}`}>{excerpt(because, 240)}</a>
            </>
          )}
        </li>
      ))}
      {states.length > MAX_STATES && <li class="muted">and {states.length - MAX_STATES} more states</li>}
    </ul>
  );
}

const ENDED_IN: Readonly<Record<string, string>> = {
  completed: 'Completed in',
  degraded: 'Failed in',
  cancelled: 'Stopped in',
};
/** On a phone, half as many have their reasons. */
const MAX_STATES = 6;

interface NextProps extends PanelProps {
  readonly waits: readonly MachineWaits[];
  readonly blocked: string | null;
  readonly chosen: string | null;
  readonly choose: (type: string | null) => void;
}

/** What can happen next: open questions, events with where they lead, timers with when they are due, calls in progress. */
function Next({ inspector, view, waits, blocked, chosen, choose }: NextProps) {
  const { run } = view;
  const form = sender(inspector, run.runId);
  const { machine, waiting } = run;
  const own = waits.find((one) => one.machine === (machine ?? one.machine));
  const forms = machine === undefined ? null : (inspector.machines.value[machine] ?? null);
  const events = [...new Set([...(waiting?.events ?? []), ...(own?.events ?? [])])].sort();
  const approvals = waiting?.approvals ?? [];
  const calls = [...new Set(waits.flatMap((one) => one.actors))].filter(
    (name) => approvals.length === 0 || name !== 'approval',
  );
  const children = view.fold.actors.flatMap(({ child, end }) => (child !== null && end === null ? child : []));
  const total = waits.flatMap((one) => [...one.events, ...one.timers]).length + calls.length + approvals.length;
  const canSend = (type: string): boolean => machine !== undefined && (forms === null || Object.hasOwn(forms, type));
  const area = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => area.current?.querySelector<HTMLElement>('input, select, textarea, button')?.focus(), [chosen]);
  const onSend = async (event: unknown, onProblem?: (problem: string) => void): Promise<boolean> => {
    const isSent = await form.onSend(event, `Sent ${excerpt(String(Object(event).type), 60)}.`, onProblem);
    if (isSent) choose(null);
    return isSent;
  };
  const isFile = inspector.connection.value === 'file';
  const hasData = (type: string): boolean => eventFields(forms?.[type] ?? {})?.length !== 0;
  const close = (): void => {
    area.current?.closest('.acts')?.querySelector<HTMLElement>('[aria-expanded=true]')?.focus();
    choose(null);
  };
  const eventButton = (type: string) => (
    <button
      type="button"
      aria-expanded={hasData(type) ? chosen === type : undefined}
      disabled={blocked !== null}
      onClick={() => (hasData(type) ? choose(chosen === type ? null : type) : void onSend({ type }))}
    >
      {excerpt(type, 60)}
      {type === OTHER_EVENT && '…'}
    </button>
  );
  const eventForm = (type: string) =>
    blocked === null && (
      <div ref={area}>
        <ActorEventForm
          key={type}
          view={view}
          type={type}
          forms={forms}
          accepted={own && [...events, ...(approvals.length > 0 ? ['approval.given'] : [])]}
          isBusy={form.isBusy}
          onSend={onSend}
          onCancel={close}
        />
      </div>
    );
  return (
    <>
      <Approvals
        view={view}
        approvals={approvals}
        canAnswer={blocked === null}
        hasTimers={waits.some(({ timers }) => timers.length > 0)}
        {...form}
      />
      <ul class="next row" aria-label="What can happen next">
        {events.slice(0, MAX_EVENTS).map((type) => (
          <Fragment key={type}>
            <li class="verbatim">
              {canSend(type) && !isFile ? eventButton(type) : <b>{excerpt(type, 60)}</b>}
              <LeadsTo text={own?.leadsTo[type]} />
            </li>
          </Fragment>
        ))}
        {events.length > MAX_EVENTS && <li class="muted">and {events.length - MAX_EVENTS} more events</li>}
        {machine !== undefined && forms === null && !isFile && <li>{eventButton(OTHER_EVENT)}</li>}
        <Timers view={view} waits={waits} />
        {calls.length > 0 && (
          <li class="verbatim">
            Waits for <b>{namesText(calls.map(humanize))}</b> to finish
            {children.map((id) => (
              <Fragment key={id}>
                {' · '}
                <ActorLink id={id} />
              </Fragment>
            ))}
          </li>
        )}
        {waits.length > 0 && total === 0 && <li class="muted">Its states accept no events and have no timers.</li>}
      </ul>
      {chosen !== null && eventForm(chosen)}
    </>
  );
}

interface ApprovalsProps extends Pick<ReturnType<typeof sender>, 'isBusy' | 'onSend'>, Pick<PanelProps, 'view'> {
  readonly approvals: ActorWait['approvals'];
  readonly canAnswer: boolean;
  readonly hasTimers: boolean;
}

function leadsTo({ fold, charts, count }: PanelView, approvalId: string) {
  const { approve, deny } = answersLeadTo(fold, charts, approvalId, count - 1);
  return { approve: <LeadsTo text={approve} />, deny: <LeadsTo text={deny} /> };
}

const Approvals = ({ view, approvals, canAnswer, hasTimers, isBusy, onSend }: ApprovalsProps) => (
  <>
    {approvals.map(({ id, digest, question, askedAtMs }) => (
      <section key={id} class="banner" aria-label="Waiting for approval">
        <QuestionForm
          label="Approval"
          title={approvals.length === 1 ? 'Approve this?' : `Approve this? Asked ${startedText(askedAtMs) ?? ''}`}
          about={`Answer ${canAnswer ? 'here or ' : ''}in a program that uses the actor. ${hasTimers ? 'Until then, its timers still fire.' : 'No timer ends the wait.'}`}
          given={question}
          noun="question"
          hint="(the machine may ignore the changes)"
          leadsTo={leadsTo(view, id)}
          canApprove={canAnswer}
          canDeny={canAnswer}
          isBusy={isBusy}
          onAnswer={({ edited, ...rest }) =>
            void onSend(
              { type: 'approval.given', id, digest, ...rest, ...(edited && { edited: edited.json }) },
              rest.decision === 'deny' ? 'Denied.' : edited ? editedWords(question, edited.json) : 'Approved.',
            )
          }
        />
      </section>
    ))}
  </>
);

/** `Approved with edits: cents 9900 → 4200.` */
function editedWords(question: unknown, edited: unknown): string {
  const changes = changedFields({ question }, { question: edited }).map(({ path, before, after }) => {
    const name = path.replace(/^question\.?/u, '');
    return `${name && `${excerpt(name, 60)} `}${jsonExcerpt(before, 40)} → ${jsonExcerpt(after, 60)}`;
  });
  return `Approved with edits: ${namesText(changes)}.`;
}

/** The timers of all machines, with when they are due and where they lead. */
function Timers({ view, waits }: Pick<NextProps, 'view' | 'waits'>) {
  const { run } = view;
  const { waiting } = run;
  const clockMs = clockStart(view);
  return (
    <>
      {waits.flatMap((one) =>
        one.timers.map((timer) => (
          <li key={`${one.machine} ${timer.delay} ${timer.leadsTo}`} class="timer verbatim">
            Timer <b>{excerpt(formatDelay(timer.delay), 60)}</b>{' '}
            <Firing run={run} toMs={waiting?.dueAtMs === null ? Number.NaN : clockMs + (timer.dueMs ?? Number.NaN)} />
            <LeadsTo text={timer.leadsTo} />
          </li>
        )),
      )}
      {waits.length === 0 && waiting?.dueAtMs != null && (
        <li class="timer">
          Its next timer <Firing run={run} toMs={waiting.dueAtMs} />
        </li>
      )}
    </>
  );
}

const MAX_EVENTS = 24;

const LeadsTo = ({ text = '' }: { readonly text?: string | undefined }) =>
  text === '' ? null : (
    <>
      {' '}
      <span class="muted leads-to">
        <Icon name="arrow-right" /> {excerpt(text, 160)}
      </span>
    </>
  );

/** When a timer fires; when it is due if no process executes its actor. In an exported page, no time passes. */
function Firing({ run: { exportedAt, status }, toMs }: { readonly run: InspectedRun; readonly toMs: number }) {
  const isDue = useIsPast(toMs);
  if (!Number.isFinite(toMs)) return <>fires</>;
  if (exportedAt !== undefined) return <>due {startedText(toMs)}</>;
  if (isDue) return <b class="wrong">was due {startedText(toMs)}</b>;
  return (
    <>
      {status === 'waiting' ? 'due' : 'fires'}
      <Countdown toMs={toMs} />
    </>
  );
}
