import './output.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { formatDecimal, formatDuration, formatNumber, pluralize } from '../../fold/format.ts';
import {
  type AttemptAt,
  attemptsAt,
  type Field,
  fieldsOf,
  issuesByPlace,
  phasesOfCycle,
  replyAt,
} from '../../fold/output.ts';
import { lastStartedBy, lastUpTo } from '../../fold/sorted.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import type { RunView } from '../../ui-state/inspector.ts';
import { EntryLink } from '../entry-link.tsx';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';
import { IssueList, ValueView } from './value-view.tsx';

/** The output at the cursor: the answer, the current reply, and the results of earlier phases. */
export function OutputPanel({ inspector: { moveTo }, view }: PanelProps) {
  const [chosenFrom, choose] = useState<number | null>(null);
  const { log, fold, at } = view;
  const attempts = attemptsAt(fold.spans, at);
  const attempt = attempts.find(({ span }) => span.from === chosenFrom) ?? attempts.at(-1);
  const answerSeq = lastUpTo(fold.entries.of('answer'), at);
  const answered = answerSeq === undefined ? undefined : log.entry(answerSeq);
  const answer = answered?.type === 'answer' ? answered.answer : null;
  if (attempt === undefined && answer === null) return <p class="muted">No model calls yet.</p>;
  return (
    <div class="output">
      {/* The answer replaces the reply, which is rendered again below it. */}
      <div class="reply" key={answer === null ? 'reply' : 'answer'}>
        {answer !== null && <AnswerCard answer={answer} />}
        {attempt !== undefined && (
          <>
            <AttemptChips attempts={attempts} selected={attempt} choose={choose} />
            <AttemptCard key={attempt.span.from} view={view} attempt={attempt} moveTo={moveTo} />
          </>
        )}
      </div>
      <PhaseHistory view={view} moveTo={moveTo} />
    </div>
  );
}

const MAX_SOURCES = 12;

/** The final answer: text, confidence, missing fields, sources and usage. */
function AnswerCard({ answer }: { readonly answer: FinalAnswer }) {
  const { answerText, confidence, status, sources, notes, metadata } = answer;
  const { reason, explanation, missingFields, synthesis, usage, cost, cycles } = metadata;
  const tokens = usage.inputTokens + usage.outputTokens;
  return (
    <section class="card answer" aria-label="Answer">
      <header>
        <h2>Answer</h2>
        <span class={`pill ${status}`}>{status}</span>
        <span class="confidence">
          confidence <meter min={0} max={1} value={confidence} aria-label="Confidence" /> {formatDecimal(confidence)}
        </span>
      </header>
      <p class="text">
        <LongText text={answerText} chars={4_000} />
      </p>
      <dl class="facts">
        {reason !== null && <Fact label="Reason">{reason.replaceAll('_', ' ')}</Fact>}
        {explanation !== '' && (
          <Fact label="Explanation">
            <LongText text={explanation} />
          </Fact>
        )}
        {missingFields.length > 0 && <Fact label="Missing">{excerpt(missingFields.join(', '), 200)}</Fact>}
        {notes !== '' && notes !== explanation && (
          <Fact label="Notes">
            <LongText text={notes} />
          </Fact>
        )}
        {sources.length > 0 && (
          <Fact label="Sources">
            <ul>
              {sources.slice(0, MAX_SOURCES).map(({ path, startLine, endLine, messageId }) => (
                <li key={messageId} class="verbatim mono">
                  {revealHidden(path)}:{startLine === endLine ? startLine : `${startLine}-${endLine}`}
                </li>
              ))}
              {sources.length > MAX_SOURCES && <li class="muted">and {sources.length - MAX_SOURCES} more</li>}
            </ul>
          </Fact>
        )}
        <Fact label="Written by">
          {synthesis.writtenBy === 'model' ? 'a model' : 'the engine'}
          {synthesis.error !== null && <span class="verbatim">: {excerpt(synthesis.error, 200)}</span>}
        </Fact>
        <Fact label="Usage">
          {pluralize(cycles, 'cycle')}, {pluralize(usage.modelCalls, 'model call')}, {pluralize(tokens, 'token')} (
          {formatNumber(usage.inputTokens)} in, {formatNumber(usage.outputTokens)} out{usage.estimated && ', estimated'}
          ){cost !== null && `, ${cost.amount.toLocaleString('en-US', { maximumFractionDigits: 6 })} ${cost.currency}`}
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface Props {
  readonly view: RunView;
  readonly attempt: AttemptAt;
  readonly moveTo: (seq: number) => void;
}

const MARKS: Readonly<Partial<Record<AttemptAt['status'], 'check' | 'cross'>>> = { valid: 'check', discarded: 'cross' };

/** A model's reply, field by field, with its validation result. */
function AttemptCard({ view, attempt, moveTo }: Props) {
  const { log, fold, at } = view;
  const { span, status, failure, usage, backOffMs } = attempt;
  const reply = replyAt(log, span, at);
  const fields = fieldsOf(span.task, reply.value);
  const issues = issuesByPlace(failure?.issues ?? []);
  const call = lastStartedBy(fold.spans.calls, span.from);
  const isOver = status !== 'running';
  return (
    <section class={`card attempt ${status}`} aria-label={`Attempt ${span.attempt} at ${span.task}`}>
      <header>
        <h2>
          {span.task} <span class="muted">attempt {span.attempt}</span>
        </h2>
        <span class="status">
          {MARKS[status] !== undefined && <Icon name={MARKS[status]} />} {status}
        </span>
      </header>
      <p class="muted">
        {call?.actor === 'readReply' && <>call {call.call}, </>}
        <EntryLink seq={span.from} moveTo={moveTo} />, {pluralize(reply.chars, 'character')}
        {usage !== null && <>, {pluralize(usage.outputTokens, 'token')}</>}
      </p>
      <p class="muted pending">{pendingText(fields, { isOver })}</p>
      {failure !== null && (
        <div class="failure">
          <p>
            Discarded: failed at {failure.stage}, <code>{excerpt(failure.code, 60)}</code>
            {failure.status !== null && `, status ${failure.status}`}
          </p>
          <p>
            <LongText text={failure.message} chars={600} />
          </p>
          <IssueList messages={issues.whole} />
          {backOffMs !== null && (
            <p class="muted">Retried {backOffMs === 0 ? 'immediately' : `after ${formatDuration(backOffMs)}`}.</p>
          )}
        </div>
      )}
      {reply.isRedacted && (
        <p class="muted">This journal is redacted and has no streamed chunks. This is the complete reply.</p>
      )}
      {reply.value === null && reply.chars > 0 && (
        <p class="prose">
          <LongText text={reply.text()} open={!isOver} />
        </p>
      )}
      {reply.value === null && reply.chars === 0 && (
        <p class="muted">{isOver ? 'The model sent no text.' : 'Nothing received yet.'}</p>
      )}
      {/* Keyed by status: issues above the fields move them. */}
      <dl class="fields" key={status}>
        {(isOver ? fields : fields.filter(({ value }) => value !== null)).map(({ name, value }) => (
          <div key={name}>
            <dt class="verbatim">{excerpt(name, 60)}</dt>
            <dd>
              <div class="value">
                {value === null ? (
                  <span class="muted">not received</span>
                ) : (
                  <ValueView key={span.from} value={value} path={name} issues={issues} />
                )}
              </div>
              <IssueList messages={issues.at(name)} />
              {value?.kind !== 'list' && value?.kind !== 'members' && (
                <IssueList messages={issues.within(name).map(({ path, message }) => `${path}: ${message}`)} />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Always rendered, so that nothing below moves. */
function pendingText(fields: readonly Field[], { isOver }: { readonly isOver: boolean }): string {
  const pending = fields.filter(({ value }) => value === null).map(({ name }) => name);
  if (pending.length > 0) return `${isOver ? 'Not received' : 'Waiting for'}: ${pending.join(', ')}`;
  return fields.length > 0 ? 'All fields received.' : '';
}

/** The phases of the cycle with their results, one line each; reserves room for a full cycle. */
function PhaseHistory({ view, moveTo }: { readonly view: RunView; readonly moveTo: (seq: number) => void }) {
  const phases = phasesOfCycle(view.log, view.fold.spans, view.at);
  const [first] = phases;
  if (first === undefined) return null;
  return (
    <section class="phases" aria-label={`Phases of cycle ${first.cycle}`}>
      <h3>Cycle {first.cycle}</h3>
      <ol>
        {phases.map(({ from, phase, status, summary }) => (
          <li key={from}>
            <EntryLink seq={from} moveTo={moveTo}>
              {phase}
            </EntryLink>{' '}
            {status !== 'done' && <span class={status === 'failed' ? 'wrong-word' : 'muted'}>{status}</span>}{' '}
            <span class="verbatim muted" title={excerpt(summary, 400)}>
              {excerpt(summary, 160)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface AttemptChipsProps {
  readonly attempts: readonly AttemptAt[];
  readonly selected: AttemptAt;
  readonly choose: (from: number) => void;
}

/** The attempts at one reply, with the waits between them; one is selected. */
function AttemptChips({ attempts, selected, choose }: AttemptChipsProps) {
  if (attempts.length < 2) return null;
  return (
    <fieldset class="chips">
      <legend class="visually-hidden">Attempts</legend>
      {attempts.map(({ span, status, backOffMs }) => (
        <span key={span.from}>
          <button
            type="button"
            class={`chip ${status}`}
            aria-pressed={span === selected.span}
            onClick={() => choose(span.from)}
          >
            {span.attempt}: {status}
          </button>
          {backOffMs !== null && (
            <span class="muted wait"> {backOffMs === 0 ? 'at once' : `wait ${formatDuration(backOffMs)}`} ›</span>
          )}
        </span>
      ))}
    </fieldset>
  );
}
