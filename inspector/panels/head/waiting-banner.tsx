import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import { runStart } from '../../fold/entry-index.ts';
import { formatScore, pluralize } from '../../fold/format.ts';
import { decisionReason } from '../../fold/guard-words.ts';
import { argumentWords, excerpt, revealHidden } from '../../fold/text.ts';
import { type AwaitedAnswer, runDeadlineMs, waitingAt } from '../../fold/user-events.ts';
import type { PanelView } from '../../ui-state/inspector.ts';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';
import { CopyButton } from '../parts.tsx';
import { READ_ONLY } from '../step/fork-form.tsx';
import { clockStart } from '../trace/use-clock.ts';
import { ApprovalForm } from './approval-form.tsx';
import { ConsentForm } from './consent-form.tsx';
import { Countdown } from './countdown.tsx';
import { DirectForm } from './event-forms.tsx';
import { useRunAction } from './run-action.tsx';
import { sender } from './sending.tsx';

/** What the run waits for, or why it stopped without an answer, and what to do: the loudest part of the head. */
export function WaitingBanner({ inspector, view }: PanelProps) {
  const { run, log, fold, count, end } = view;
  const waiting = waitingAt(log, fold, count - 1);
  const problem = end?.problem ?? run.problem ?? null;
  if (run.status === 'damaged' || (problem !== null && !run.live))
    return (
      <section class="banner bad stack" aria-label="Damaged journal">
        <h2>The journal of this run is damaged</h2>
        <p class="verbatim" role="alert">
          {excerpt(problem ?? 'A part of it cannot be read.', 300)}
        </p>
        <p>
          The entries before the damage are shown. The run cannot be continued: restore the journal from a copy, or ask
          the question again.
        </p>
      </section>
    );
  const isStopped = run.status === 'interrupted' || run.status === 'waiting';
  const isFile = inspector.connection.value === 'file';
  if (waiting === null && (!isStopped || isFile)) return null;
  const [kind, label] = waiting === null ? ['interrupted', 'Interrupted run'] : ['', `Waiting for ${waiting.for}`];
  const title = waiting === null ? 'Its process ended without an answer' : titleOf(waiting, run.live);
  return (
    <section class={`banner stack ${kind}`} aria-label={label}>
      {title !== '' && <h2>{title}</h2>}
      {waiting !== null && waiting.for !== 'approval' && <Consequence view={view} waiting={waiting} />}
      {run.live && waiting !== null ? (
        <Question inspector={inspector} view={view} waiting={waiting} />
      ) : (
        <Elsewhere inspector={inspector} view={view} waiting={waiting} isStopped={isStopped} />
      )}
      {waiting?.for === 'approval' && <Consequence view={view} waiting={waiting} />}
    </section>
  );
}

/** A question only if the page can answer it; empty if the verdict already shows it. */
function titleOf(waiting: AwaitedAnswer, canAnswer: boolean): string {
  if (!canAnswer) return waiting.for === 'consent' ? 'Waiting for consent to shorten or remove messages' : '';
  if (waiting.for === 'consent')
    return `May the run shorten or remove ${pluralize(waiting.request.items.length, 'message')}?`;
  if (waiting.for === 'direction') return 'How should the run continue?';
  const { length } = waiting.questions;
  if (waiting.questions.every(({ isClientTool }) => isClientTool)) return 'The run waits for its client to run a tool';
  return length === 1 ? 'May the run make this tool call?' : `May the run make these ${length} tool calls?`;
}

interface WaitingProps {
  readonly view: PanelView;
  readonly waiting: AwaitedAnswer;
}

const MAX_CHARS = 100_000;

interface ElsewhereProps extends PanelProps {
  readonly waiting: AwaitedAnswer | null;
  readonly isStopped: boolean;
}

/** What a run that this page cannot answer asks, and how it is continued here. */
function Elsewhere({ inspector, view: { run }, waiting, isStopped }: ElsewhereProps) {
  const { isBusy, act, messages } = useRunAction(inspector, run);
  const asked = waiting?.for === 'approval' && (
    <ul class="actions">
      {waiting.questions.map(({ questionId, capability, arguments: given }) => (
        <li key={questionId} class="verbatim">
          <b>{revealHidden(capability)}</b> <LongText text={argumentWords(given, MAX_CHARS)} chars={120} />
        </li>
      ))}
    </ul>
  );
  const connection = inspector.connection.value;
  const isDisabled = isBusy || connection !== 'open';
  if (connection === 'file') return <>{asked}</>;
  return (
    <>
      {asked}
      {!isStopped && (
        <p>
          <b>This page cannot answer yet</b>: another process executes the run. Answer in its terminal, its inspector or
          the app that uses it.
        </p>
      )}
      {connection === 'open' && !inspector.continues.value ? (
        <p>{READ_ONLY}</p>
      ) : run.blocked !== undefined ? (
        <Blocked text={run.blocked} asks={waiting !== null} />
      ) : isStopped ? (
        <div class="row">
          <button type="button" class="primary" disabled={isDisabled} onClick={() => void act({ type: 'resume' })}>
            Resume
          </button>
          <span>
            {waiting === null
              ? 'It continues where it stopped and does not repeat finished calls.'
              : 'No process executes this run now. Resume it to answer here.'}
          </span>
        </div>
      ) : (
        <div class="row">
          <button type="button" disabled={isDisabled} onClick={() => void act({ type: 'resume', force: true })}>
            Take over
          </button>
          <span>
            The run continues here, where you can answer. The other process stops executing it at its next step.
          </span>
        </div>
      )}
      {messages}
    </>
  );
}

/** Why the run cannot be resumed here, and the code that resumes it. */
function Blocked({ text, asks }: { readonly text: string; readonly asks: boolean }) {
  const [why = '', ...code] = text.split('\n');
  return (
    <>
      <p class="verbatim">
        {asks && <b>This page cannot answer.</b>} {excerpt(why, 400)}
      </p>
      {code.length > 0 && (
        <div class="row">
          <pre class="sunken verbatim">{code.map(revealHidden).join('\n')}</pre>
          <CopyButton what="code" text={() => code.join('\n')} />
        </div>
      )}
    </>
  );
}

function Consequence({ view, waiting }: WaitingProps) {
  const { log, fold, count } = view;
  const { limits } = (fold.states.at(count - 1) as RecordedState | null) ?? {};
  const waitMs = waiting.for === 'consent' ? limits?.consentMs : waiting.for === 'approval' ? limits?.approvalMs : null;
  const askedMs = fold.timeLine.atMs(waiting.askedAt);
  // The run's time limit is paused while it waits for an approval.
  const limitMs = waiting.for === 'approval' ? null : runDeadlineMs(log, fold);
  const atMs = waitMs == null ? limitMs : Math.min(askedMs + waitMs, limitMs ?? Number.POSITIVE_INFINITY);
  const dueMs = clockStart(view) + (atMs ?? Number.NaN);
  const isTimed = Number.isFinite(dueMs) && view.run.exportedAt === undefined;
  const countdown = isTimed ? <Countdown key={waiting.askedAt} toMs={dueMs} /> : null;
  if (waiting.for === 'consent') return <p>If nobody answers{countdown}, all of them are kept.</p>;
  if (waiting.for === 'approval')
    return (
      <p class="muted">
        {countdown === null ? (
          'No time limit ends the wait.'
        ) : (
          <>
            If nobody answers{countdown}, {waiting.questions.length === 1 ? 'it is' : 'they are'} not made.
          </>
        )}
      </p>
    );
  const { answer, confidence, recommendation, rejected } = waiting;
  return (
    <>
      <p>
        {recommendation === null
          ? 'No rule recommends finishing.'
          : `Finishing is recommended: ${decisionReason(recommendation, runStart(log)?.input.thresholds ?? null)}.`}{' '}
        {countdown !== null && <>If nobody answers{countdown}, the run ends at its time limit.</>}
      </p>
      <p>
        <span class="muted">Answer so far, with confidence {formatScore(confidence)}:</span>{' '}
        <LongText text={answer} chars={240} />
      </p>
      {rejected !== null && (
        <p class="wrong" role="alert">
          <span class="verbatim">“{excerpt(rejected, 80)}”</span> was rejected: not a phase.
        </p>
      )}
    </>
  );
}

function Question({ inspector, view, waiting }: PanelProps & WaitingProps) {
  const form = sender(inspector, view.run.runId);
  if (waiting.for === 'consent') return <ConsentForm key={waiting.askedAt} {...waiting} {...form} />;
  if (waiting.for === 'direction') return <DirectForm key={waiting.askedAt} {...waiting} {...form} />;
  return (
    <div class="approvals">
      {waiting.questions.map((question) => (
        <ApprovalForm key={question.questionId} question={question} {...form} />
      ))}
    </div>
  );
}
