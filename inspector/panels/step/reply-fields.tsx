import { useState } from 'preact/hooks';
import type { PartialValue } from '../../../src/chain/presentation/partial-json.ts';
import { formatDuration, formatScore, formatTokens, humanize } from '../../fold/format.ts';
import { type AttemptAt, fieldsOf, type Issues, issuesByPlace, type ReplyField, replyAt } from '../../fold/output.ts';
import { excerpt } from '../../fold/text.ts';
import { Toggle } from '../../link-button.tsx';
import type { RunLog } from '../../wire/run-log.ts';
import { Caret, LongText } from '../long-text.tsx';

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
      <span class="leaf">
        {value.kind === 'number' && !value.open ? numberText(value.text) : excerpt(value.text, 60)}
        {value.open && <Caret after={value.text.length} />}
      </span>
    );
  return <Parts value={value} path={path} issues={issues} />;
}

/** A score of a model may have sixteen decimals. */
const numberText = (text: string): string => (/\.\d{4,}$/u.test(text) ? formatScore(Number(text)) : excerpt(text, 60));

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
        <div key={part.name} class="part labeled">
          <span class="muted part-name verbatim">
            {value.kind === 'list' ? Number(part.name) + 1 : fieldName(part.name)}
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
      {all.length > max && <Toggle isOpen={isExpanded} open={setExpanded} more={`show all ${all.length}`} />}
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

const fieldName = (name: string): string => excerpt(name, 80).split('.').map(humanize).join('.');

/** The fields of a brief reply in words. */
const BRIEF_WORDS: Readonly<Record<string, string>> = {
  used: 'Material used',
  enough: 'Material is sufficient',
  done: 'Task complete',
  next: 'Next phase',
  except: 'Exceptions',
};

const NO_ISSUES = issuesByPlace([]);

interface FieldsProps {
  readonly fields: readonly ReplyField[];
  readonly issues?: Issues;
  /** Whether they are the fields of a brief reply. */
  readonly isBrief?: boolean;
}

/** The fields of a reply, with each validation error at its field. */
export function Fields({ fields, issues = NO_ISSUES, isBrief = false }: FieldsProps) {
  return (
    <dl class="fields stack">
      {fields.map(({ name, value }) => (
        <div key={name} class="labeled">
          <dt class="verbatim">{(isBrief && BRIEF_WORDS[name]) || fieldName(name)}</dt>
          <dd>
            <ValueView value={value} path={name} issues={issues} />
            <IssueList messages={issues.at(name)} />
            {value.kind !== 'list' && value.kind !== 'members' && (
              <IssueList messages={issues.within(name).map(({ path, message }) => `${path}: ${message}`)} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface CallReplyProps {
  readonly log: RunLog;
  readonly at: number;
  readonly call: AttemptAt;
  /** Nothing more will arrive. */
  readonly isOver: boolean;
}

/** The reply of a model call as it streams, and what made it invalid. */
export function CallReply({ log, at, call: { span, status, failure, usage, backOffMs }, isOver }: CallReplyProps) {
  const reply = replyAt(log, span, at);
  const issues = issuesByPlace(failure?.issues ?? []);
  const isEnded = status !== 'running' || isOver;
  return (
    <div class={`attempt stack ${status}${isEnded ? ' ended' : ''}`}>
      {failure !== null && (
        <div class="failure stack" role="note">
          <p>
            <LongText text={failure.message} chars={600} />{' '}
            <span class="muted">
              {excerpt(failure.stage, 40)}, <code>{excerpt(failure.code, 60)}</code>
              {failure.status !== null && `, status ${failure.status}`}
            </span>
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
          <LongText text={reply.text()} open={!isEnded} />
        </p>
      )}
      {reply.value === null && reply.chars === 0 && (
        <p class="muted">{isEnded ? 'The model sent no text.' : 'Nothing received yet.'}</p>
      )}
      {/* Keyed by status: issues above the fields move them. */}
      {reply.value !== null && (
        <Fields key={status} fields={fieldsOf(reply.value)} issues={issues} isBrief={span.phases !== null} />
      )}
      {usage !== null && <p class="muted">{formatTokens(usage)}</p>}
    </div>
  );
}
