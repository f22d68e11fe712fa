import type { AttemptAt } from '../../fold/attempt-at.ts';
import { issuesByPlace } from '../../fold/issues-by-place.ts';
import { replyAt } from '../../fold/reply-at.ts';
import { fieldsOf } from '../../fold/reply-fields.ts';
import { lastBegunBy } from '../../fold/sorted.ts';
import type { RunView } from '../../shown/inspector.ts';
import { counted, duration, shortly, visible } from '../../shown/text.ts';
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
      {failure !== null && (
        <div class="failure">
          <p>
            Void: failed at {failure.stage}, <code>{shortly(failure.code, 60)}</code>
            {failure.status !== null && `, status ${failure.status}`}
          </p>
          <p class="told">{visible(failure.message.slice(0, 600))}</p>
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
      <dl class="fields">
        {fields.map(({ name, value }) => (
          <div key={name}>
            <dt class="told">{shortly(name, 60)}</dt>
            <dd>
              <div class="value">
                {value === null ? (
                  <span class="muted due">{isOver ? 'did not come' : 'to come'}</span>
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
