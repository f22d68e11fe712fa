import { useMemo } from 'preact/hooks';
import { contextAt } from '../../fold/context-at.ts';
import {
  type FieldGroup,
  type MessageDifference,
  messageDifferences,
  stateDifferences,
} from '../../fold/context-difference.ts';
import { counted, grouped } from '../../fold/number-words.ts';
import { stateAt } from '../../fold/state-at.ts';
import { shortJson } from '../../ui-state/short-json.ts';
import { shortly } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel-props.ts';
import { base } from './context-choice.ts';
import { DifferenceText } from './difference-text.tsx';

const MOST_MESSAGES = 100;
const MOST_FIELDS = 25;

interface DifferenceViewProps extends PanelProps {
  /** The entry that is compared with; null where none is pinned. */
  readonly from: number | null;
  readonly onPin: () => void;
}

/** What differs between an entry that was pinned and the cursor: messages by their ids, and the other members of the state. */
export function DifferenceView({ inspector, view, from, onPin }: DifferenceViewProps) {
  const { run, log, fold, at } = view;
  const isSystem = run.kind === 'system';
  const old = from === null ? null : contextAt(log, fold, from);
  const now = contextAt(log, fold, at);
  const [was, is] = [from === null ? null : stateAt(log, fold.places, from), stateAt(log, fold.places, at)];
  const messages = useMemo(
    () => (old === null || isSystem ? [] : messageDifferences(old.messages, now.messages)),
    [old, now, isSystem],
  );
  const fields = useMemo(
    () => (was === null || is === null ? [] : stateDifferences(was, is, isSystem ? [] : ['messages'])),
    [was, is, isSystem],
  );
  if (from === null)
    return (
      <p>
        Choose where to compare from:{' '}
        <button type="button" onClick={onPin}>
          Compare from entry {grouped(at)}
        </button>{' '}
        <span class="muted">or the key m. Then move the cursor.</span>
      </p>
    );
  return (
    <div class="difference">
      <div class="list-head">
        <span>
          From <Go seq={from} onGo={inspector.moveTo} /> to entry {grouped(at)}
          {from > at && <span class="muted"> (backwards)</span>}
        </span>
        <button
          type="button"
          onClick={() => {
            base.value = null;
          }}
        >
          Forget it
        </button>
      </div>
      {!isSystem && <Messages differences={messages} />}
      <h2>{isSystem ? 'Contexts' : 'The rest of the state'}</h2>
      {was === null || is === null ? (
        <p class="muted">
          {isSystem ? 'One of the two entries has no contexts.' : 'The journal keeps no state there.'}
        </p>
      ) : (
        <Fields groups={fields} />
      )}
    </div>
  );
}

function Go({ seq, onGo }: { readonly seq: number; readonly onGo: (seq: number) => void }) {
  return (
    <button type="button" class="quiet" onClick={() => onGo(seq)} aria-label={`Go to entry ${seq}`}>
      entry {grouped(seq)}
    </button>
  );
}

function Messages({ differences }: { readonly differences: readonly MessageDifference[] }) {
  const [added, removed] = [
    differences.filter(({ before }) => before === null).length,
    differences.filter(({ after }) => after === null).length,
  ];
  const changed = differences.length - added - removed;
  return (
    <section aria-label="Messages that differ">
      <h2>Messages</h2>
      <p role="status">
        {grouped(added)} added, {grouped(removed)} removed, {grouped(changed)} changed
      </p>
      <ul class="differences">
        {differences.slice(0, MOST_MESSAGES).map((difference) => (
          <Difference key={difference.id} difference={difference} />
        ))}
      </ul>
      {differences.length > MOST_MESSAGES && (
        <p class="muted">… and {counted(differences.length - MOST_MESSAGES, 'more message')}</p>
      )}
    </section>
  );
}

function Difference({ difference: { id, before, after } }: { readonly difference: MessageDifference }) {
  const [word, mark] = before === null ? ['added', '+'] : after === null ? ['removed', '−'] : ['changed', '±'];
  const shown = after ?? before;
  return (
    <li class={word}>
      <strong>
        {mark} {word}
      </strong>{' '}
      <code class="told">{shortly(id, 48)}</code>{' '}
      <span class="muted">
        {shown?.role}, {counted(shown?.content.length ?? 0, 'character')}
      </span>
      {before !== null && after !== null ? (
        <DifferenceText before={before} after={after} />
      ) : (
        <p class="told">{shortly(shown?.content ?? '', 300)}</p>
      )}
    </li>
  );
}

function Fields({ groups }: { readonly groups: readonly FieldGroup[] }) {
  if (groups.length === 0) return <p class="muted">Nothing else differs.</p>;
  return (
    <ul class="fields">
      {groups.map(({ name, fields }) => (
        <li key={name}>
          <details open={groups.length <= 8 && fields.length <= 6}>
            <summary>
              <code class="told">{shortly(name, 60)}</code>{' '}
              <span class="muted">{counted(fields.length, 'change')}</span>
            </summary>
            <ul>
              {fields.slice(0, MOST_FIELDS).map(({ path, before, after }) => (
                <li key={path} class="told">
                  <code>{shortly(path, 120)}</code>: <del>{shortJson(before, 160)}</del>{' '}
                  <ins>{shortJson(after, 160)}</ins>
                </li>
              ))}
            </ul>
            {fields.length > MOST_FIELDS && (
              <p class="muted">… and {counted(fields.length - MOST_FIELDS, 'more change')}</p>
            )}
          </details>
        </li>
      ))}
    </ul>
  );
}
