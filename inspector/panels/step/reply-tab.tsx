import './reply.css';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { explanationOf, type FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { answerUpTo } from '../../fold/answer.ts';
import { formatCost, formatDuration, formatScore, formatTokens, pluralize } from '../../fold/format.ts';
import { type AttemptAt, type Field, fieldsOf, type Issues, issuesByPlace, replyAt } from '../../fold/output.ts';
import type { PartialValue } from '../../fold/partial-json.ts';
import { type NumberedCall, stepCalls } from '../../fold/step.ts';
import { confidenceCap, writerOf } from '../../fold/summary.ts';
import { excerpt, revealHidden, sourceText } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import type { RunView } from '../../ui-state/inspector.ts';
import type { RunLog } from '../../wire/run-log.ts';
import { EntryLink } from '../entry-link.tsx';
import { Caret, LongText } from '../long-text.tsx';
import { Markdown } from '../markdown.tsx';
import type { PanelProps } from '../panel.tsx';
import { CallChips } from './call-chips.tsx';

interface Props {
  readonly value: PartialValue;
  readonly path: string;
  readonly issues: Issues;
}

/** List items shown before expanding; fewer in nested lists. */
const MAX_ITEMS = 8;
const MAX_NESTED_ITEMS = 3;

function ValueView({ value, path, issues }: Props) {
  if (value.kind === 'text')
    return value.text === '' && !value.open ? (
      <span class="muted">(empty)</span>
    ) : (
      <span class="leaf">
        <LongText {...value} />
      </span>
    );
  if (value.kind === 'number' || value.kind === 'word')
    return (
      <span class="leaf mono">
        {excerpt(value.text, 60)}
        {value.open && <Caret after={value.text.length} />}
      </span>
    );
  return <Parts value={value} path={path} issues={issues} />;
}

type Nest = Extract<PartialValue, { readonly kind: 'list' | 'members' }>;

function Parts({ value, path, issues }: Props & { readonly value: Nest }) {
  const [isExpanded, setExpanded] = useState(false);
  const all =
    value.kind === 'list'
      ? value.items.map((item, index) => ({ name: String(index), value: item }))
      : value.members.map((member) => ({ name: member.name, value: member.value }));
  const max = value.kind === 'list' && path.includes('.') ? MAX_NESTED_ITEMS : MAX_ITEMS;
  // While a list grows, its newest items are shown.
  const first = value.kind === 'list' && value.open ? Math.max(0, all.length - max) : 0;
  const parts = isExpanded ? all : all.slice(first, first + max);
  const shown = new Set(parts.map(({ name }) => `${path}.${name}`));
  const elsewhere = issues.within(path).filter((issue) => ![...shown].some((index) => isAt(issue.path, index)));
  if (all.length === 0 && elsewhere.length === 0)
    return <span class="muted">{value.open ? <Caret after={0} /> : value.kind === 'list' ? '(none)' : '(empty)'}</span>;
  return (
    <div class={value.kind}>
      {parts.map((part) => (
        <div key={part.name} class="part">
          <span class="muted part-name verbatim">
            {value.kind === 'list' ? Number(part.name) + 1 : excerpt(part.name, 60)}
          </span>
          <div class="part-value">
            {part.value === null ? (
              <Caret after={0} />
            ) : (
              <ValueView value={part.value} path={`${path}.${part.name}`} issues={issues} />
            )}
            <IssueList messages={issues.at(`${path}.${part.name}`)} />
          </div>
        </div>
      ))}
      {all.length > max && (
        <button type="button" class="link-button" onClick={() => setExpanded(!isExpanded)}>
          {isExpanded ? 'show less' : `show all ${all.length}`}
        </button>
      )}
      <IssueList messages={elsewhere.slice(0, MAX_ITEMS).map((issue) => `${issue.path}: ${issue.message}`)} />
    </div>
  );
}

const isAt = (path: string, index: string): boolean => path === index || path.startsWith(`${index}.`);

function IssueList({ messages }: { readonly messages: readonly string[] }) {
  return (
    <>
      {messages.map((message) => (
        <p key={message} class="wrong verbatim">
          <span class="visually-hidden">invalid: </span>
          {excerpt(message, 300)}
        </p>
      ))}
    </>
  );
}

export function ReplyTab({ inspector, view }: PanelProps) {
  const { log, fold, at, selection } = view;
  const calls = stepCalls(fold, selection, at);
  const answer = answerOfStep(view);
  return (
    <div class="output">
      {/* The answer replaces the reply, which is rendered again below it. */}
      <div class="reply stack" key={answer === null ? 'reply' : 'answer'}>
        {answer !== null && <AnswerCard view={view} answer={answer} />}
        {calls !== null && (
          <>
            <CallChips inspector={inspector} view={view} calls={calls} />
            <AttemptCard
              key={calls.selected.number}
              log={log}
              at={at}
              attempt={calls.selected}
              moveTo={inspector.moveTo}
            />
          </>
        )}
      </div>
    </div>
  );
}

export function answerOfStep({ log, fold, at, selection }: RunView): FinalAnswer | null {
  const found = answerUpTo(log, fold, at);
  return found !== null && selection.to >= found.seq ? found.answer : null;
}

const MAX_SOURCES = 12;

function AnswerCard({ view: { log, fold }, answer }: { readonly view: RunView; readonly answer: FinalAnswer }) {
  const { answerText, confidence, status, sources, notes, metadata } = answer;
  const { reason, missingFields, synthesis, usage, cost, cycles } = metadata;
  const explanation = explanationOf(answer);
  const cap = confidenceCap(log, fold, answer)?.full ?? null;
  const writer = synthesis.writtenBy === 'model' ? (writerOf(log, fold, answer) ?? 'a model') : 'the engine';
  return (
    <section class="card stack" aria-label="Answer">
      <header class="row">
        <h2>Answer</h2>
        <span class={`pill ${status}`}>{status}</span>
        <span class="confidence">
          confidence <meter min={0} max={1} value={confidence} aria-label="Confidence" /> {formatScore(confidence)}
        </span>
      </header>
      <Markdown text={answerText} />
      <dl class="facts">
        {cap !== null && <Fact label="Confidence">{cap}</Fact>}
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
              {sources.slice(0, MAX_SOURCES).map((source) => (
                <li key={source.messageId} class="verbatim mono">
                  {revealHidden(sourceText(source))}
                </li>
              ))}
              {sources.length > MAX_SOURCES && <li class="muted">and {sources.length - MAX_SOURCES} more</li>}
            </ul>
          </Fact>
        )}
        <Fact label="Written by">
          <span class="verbatim">{excerpt(writer, 80)}</span>
          {synthesis.error !== null && <span class="verbatim">: {excerpt(synthesis.error, 200)}</span>}
        </Fact>
        <Fact label="Usage">
          {pluralize(cycles, 'cycle')}, {pluralize(usage.modelCalls, 'model call')}, {formatTokens(usage)}
          {cost !== null && `, ${formatCost(cost)}`}
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

interface AttemptCardProps {
  readonly log: RunLog;
  readonly at: number;
  readonly attempt: NumberedCall;
  readonly moveTo: (seq: number) => void;
}

const MARKS: Readonly<Partial<Record<AttemptAt['status'], 'check' | 'cross'>>> = { valid: 'check', discarded: 'cross' };

function AttemptCard({ log, at, attempt, moveTo }: AttemptCardProps) {
  const { number, span, status, failure, usage, backOffMs } = attempt;
  const reply = replyAt(log, span, at);
  const fields = fieldsOf(span.phases === null ? span.task : 'brief', reply.value);
  const issues = issuesByPlace(failure?.issues ?? []);
  const isOver = status !== 'running';
  return (
    <section class={`card stack attempt ${status}`} aria-label={`Attempt ${span.attempt} at ${span.task}`}>
      <header class="row">
        <h2>
          {span.phases?.join(', ') ?? span.task} <span class="muted">attempt {span.attempt}</span>
        </h2>
        <span class="status">
          {MARKS[status] !== undefined && <Icon name={MARKS[status]} />} {status}
        </span>
      </header>
      <p class="muted">
        call {number}, <EntryLink seq={span.from} moveTo={moveTo} />, {pluralize(reply.chars, 'character')}
        {usage !== null && <>, {formatTokens(usage)}</>}
      </p>
      <p class="muted pending one-line">{pendingText(fields, { isOver })}</p>
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
