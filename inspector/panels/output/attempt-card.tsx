import type { AttemptAt } from '../../fold/attempt-at.ts';
import { issuesByPlace } from '../../fold/issues-by-place.ts';
import { counted, duration } from '../../fold/number-words.ts';
import { replyAt } from '../../fold/reply-at.ts';
import { type Field, fieldsOf } from '../../fold/reply-fields.ts';
import { lastBegunBy } from '../../fold/sorted.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { shortly } from '../../ui-state/text.ts';
import { Icon } from '../icon.tsx';
import { LongText } from '../long-text.tsx';
import { ValueView, WhatIsWrong } from './value-view.tsx';

interface Props {
  readonly view: RunView;
  readonly attempt: AttemptAt;
  readonly moveTo: (seq: number) => void;
}

const MARKS: Readonly<Partial<Record<AttemptAt['status'], 'check' | 'cross'>>> = { valid: 'check', void: 'cross' };

/** A model's reply, field by field as it comes, and what was made of it. */
export function AttemptCard({ view, attempt, moveTo }: Props) {
  const { log, fold, at } = view;
  const { span, status, failure, usage, backOffMs } = attempt;
  const reply = replyAt(log, span, at);
  const fields = fieldsOf(span.task, reply.value);
  const issues = issuesByPlace(failure?.issues ?? []);
  const call = lastBegunBy(fold.spans.calls, span.from);
  const isOver = status !== 'under way';
  return (
    <section class={`card attempt ${status.replace(' ', '-')}`} aria-label={`Attempt ${span.attempt} at ${span.task}`}>
      <header>
        <h2>
          {span.task} <span class="muted">attempt {span.attempt}</span>
        </h2>
        <span class="status">
          {MARKS[status] !== undefined && <Icon name={MARKS[status]} />} {status}
        </span>
      </header>
      <p class="muted">
        {call?.port === 'readReply' && <>call {call.call}, </>}
        <button type="button" class="quiet" onClick={() => moveTo(span.from)}>
          entry {span.from}
        </button>
        , {counted(reply.chars, 'character')}
        {usage !== null && <>, {counted(usage.outputTokens, 'token')}</>}
      </p>
      <p class="muted due">{dueInWords(fields, { isOver })}</p>
      {failure !== null && (
        <div class="failure">
          <p>
            Void: failed at {failure.stage}, <code>{shortly(failure.code, 60)}</code>
            {failure.status !== null && `, status ${failure.status}`}
          </p>
          <p>
            <LongText text={failure.message} chars={600} />
          </p>
          <WhatIsWrong messages={issues.whole} />
          {backOffMs !== null && (
            <p class="muted">Asked again {backOffMs === 0 ? 'at once' : `after ${duration(backOffMs)}`}.</p>
          )}
        </div>
      )}
      {reply.piecesLeftOut && (
        <p class="muted">The journal was redacted: its pieces are left out, this is the whole reply.</p>
      )}
      {reply.value === null && reply.chars > 0 && (
        <p class="prose">
          <LongText text={reply.text()} open={!isOver} />
        </p>
      )}
      {reply.value === null && reply.chars === 0 && (
        <p class="muted">{isOver ? 'No text came.' : 'Nothing has come yet.'}</p>
      )}
      {/* What is wrong with a reply comes above it: the fields of one that is void stand in a new place. */}
      <dl class="fields" key={status}>
        {(isOver ? fields : fields.filter(({ value }) => value !== null)).map(({ name, value }) => (
          <div key={name}>
            <dt class="told">{shortly(name, 60)}</dt>
            <dd>
              <div class="value">
                {value === null ? (
                  <span class="muted">did not come</span>
                ) : (
                  <ValueView key={span.from} value={value} path={name} issues={issues} />
                )}
              </div>
              <WhatIsWrong messages={issues.at(name)} />
              {value?.kind !== 'list' && value?.kind !== 'members' && (
                <WhatIsWrong messages={issues.within(name).map(({ path, message }) => `${path}: ${message}`)} />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** One line, there from the first: what comes below it moves nothing. */
function dueInWords(fields: readonly Field[], { isOver }: { readonly isOver: boolean }): string {
  const due = fields.filter(({ value }) => value === null).map(({ name }) => name);
  if (due.length > 0) return `${isOver ? 'Did not come' : 'To come'}: ${due.join(', ')}`;
  return fields.length > 0 ? 'All of its fields came.' : '';
}
