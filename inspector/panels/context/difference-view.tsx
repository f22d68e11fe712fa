import { useMemo, useState } from 'preact/hooks';
import type { Message } from '../../../machines/contracts/message.ts';
import { contextAt } from '../../fold/context-at.ts';
import {
  type FieldGroup,
  type MessageDifference,
  memberDifferences,
  messageDifferences,
  type Piece,
  stateDifferences,
  wordDifference,
} from '../../fold/differences.ts';
import { formatNumber, pluralize } from '../../fold/format.ts';
import { excerpt, jsonExcerpt, revealHidden } from '../../fold/text.ts';
import { EntryLink } from '../entry-link.tsx';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';
import { base } from './list-parts.tsx';

const MAX_MESSAGES = 100;
const MAX_FIELDS = 25;

interface DifferenceViewProps extends PanelProps {
  readonly from: number;
  readonly to: number;
}

export function DifferenceView({ inspector, view: { run, fold }, from, to }: DifferenceViewProps) {
  const isSystem = run.kind === 'system';
  const old = contextAt(fold, from);
  const now = contextAt(fold, to);
  const [was, is] = [fold.states.at(from), fold.states.at(to)];
  const messages = useMemo(
    () => (isSystem ? [] : messageDifferences(old.messages, now.messages)),
    [old, now, isSystem],
  );
  const fields = useMemo(
    () => (was === null || is === null ? [] : stateDifferences(was, is, isSystem ? [] : ['messages'])),
    [was, is, isSystem],
  );
  return (
    <div class="difference">
      <div class="list-head row">
        <span>
          From <EntryLink seq={from} moveTo={inspector.moveTo} /> to entry {formatNumber(to)}
          {from > to && <span class="muted"> (backwards)</span>}
        </span>
        {base.value !== null && (
          <button
            type="button"
            onClick={() => {
              base.value = null;
            }}
          >
            Clear
          </button>
        )}
      </div>
      {!isSystem && <Messages differences={messages} />}
      <h2>{isSystem ? 'Contexts' : 'Other state'}</h2>
      {was === null || is === null ? (
        <p class="muted">
          {isSystem ? 'One of the two entries has no actor contexts.' : 'The journal has no state there.'}
        </p>
      ) : (
        <Fields groups={fields} />
      )}
    </div>
  );
}

function Messages({ differences }: { readonly differences: readonly MessageDifference[] }) {
  const [added, removed] = [
    differences.filter(({ before }) => before === null).length,
    differences.filter(({ after }) => after === null).length,
  ];
  const changed = differences.length - added - removed;
  return (
    <section aria-label="Changed messages">
      <h2>Messages</h2>
      <p role="status">
        {formatNumber(added)} added, {formatNumber(removed)} removed, {formatNumber(changed)} changed
      </p>
      <ul class="differences lined">
        {differences.slice(0, MAX_MESSAGES).map((difference) => (
          <Difference key={difference.id} difference={difference} />
        ))}
      </ul>
      {differences.length > MAX_MESSAGES && (
        <p class="muted">… and {pluralize(differences.length - MAX_MESSAGES, 'more message')}</p>
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
      <code class="verbatim">{excerpt(id, 48)}</code>{' '}
      <span class="muted">
        {shown?.role}, {pluralize(shown?.content.length ?? 0, 'character')}
      </span>
      {before !== null && after !== null ? (
        <DifferenceText before={before} after={after} />
      ) : (
        <p class="verbatim">{excerpt(shown?.content ?? '', 300)}</p>
      )}
    </li>
  );
}

function Fields({ groups }: { readonly groups: readonly FieldGroup[] }) {
  if (groups.length === 0) return <p class="muted">No other differences.</p>;
  return (
    <ul class="fields">
      {groups.map(({ name, fields }) => (
        <li key={name}>
          <details open={groups.length <= 8 && fields.length <= 6}>
            <summary>
              <code class="verbatim">{excerpt(name, 60)}</code>{' '}
              <span class="muted">{pluralize(fields.length, 'change')}</span>
            </summary>
            <ul>
              {fields.slice(0, MAX_FIELDS).map(({ path, before, after }) => (
                <li key={path} class="verbatim">
                  <code>{excerpt(path, 120)}</code>: <del>{jsonExcerpt(before, 160)}</del>{' '}
                  <ins>{jsonExcerpt(after, 160)}</ins>
                </li>
              ))}
            </ul>
            {fields.length > MAX_FIELDS && (
              <p class="muted">… and {pluralize(fields.length - MAX_FIELDS, 'more change')}</p>
            )}
          </details>
        </li>
      ))}
    </ul>
  );
}

/** The characters of unchanged text kept beside a change. */
const AROUND_CHARS = 60;
/** The pieces, and characters of a changed piece, shown before expanding. */
const FEW = 60;
const SHORT_CHARS = 240;

interface DifferenceTextProps {
  readonly before: Message;
  readonly after: Message;
}

export function DifferenceText({ before, after }: DifferenceTextProps) {
  const members = memberDifferences(before, after);
  return (
    <>
      {before.content !== after.content && <Words before={before.content} after={after.content} />}
      {members.map(({ path, before: was, after: is }) => (
        <p key={path} class="reason verbatim">
          <code>{path}</code>: <del>{jsonExcerpt(was, 120)}</del> <ins>{jsonExcerpt(is, 120)}</ins>
        </p>
      ))}
    </>
  );
}

function Words({ before, after }: { readonly before: string; readonly after: string }) {
  const [all, setAll] = useState(false);
  const pieces = useMemo(() => wordDifference(before, after), [before, after]);
  if (pieces === null)
    return (
      <div class="words">
        <p class="muted">The texts are too long or too different for a word-by-word comparison.</p>
        <del>
          <LongText text={before} />
        </del>
        <ins>
          <LongText text={after} />
        </ins>
      </div>
    );
  const isCut = pieces.length > FEW || pieces.some((piece) => piece.in !== 'both' && piece.text.length > SHORT_CHARS);
  return (
    <p class="words verbatim">
      {pieces.slice(0, all ? pieces.length : FEW).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no identity besides their index
        <PieceText key={index} piece={piece} isFirst={index === 0} isLast={index === pieces.length - 1} all={all} />
      ))}
      {isCut && !all && (
        <button type="button" class="link-button" onClick={() => setAll(true)}>
          show all
        </button>
      )}
    </p>
  );
}

interface PieceTextProps {
  readonly piece: Piece;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly all: boolean;
}

function PieceText({ piece, isFirst, isLast, all }: PieceTextProps) {
  const text = revealHidden(all ? piece.text : cut(piece, isFirst, isLast));
  if (piece.in === 'before') return <del>{text}</del>;
  if (piece.in === 'after') return <ins>{text}</ins>;
  return <>{text}</>;
}

/** Shortens equal text to its ends. */
function cut({ text, in: side }: Piece, isFirst: boolean, isLast: boolean): string {
  if (side !== 'both') return text.length <= SHORT_CHARS ? text : `${text.slice(0, SHORT_CHARS)}… `;
  if (text.length <= AROUND_CHARS * 3) return text;
  return `${isFirst ? '' : text.slice(0, AROUND_CHARS)} … ${isLast ? '' : text.slice(-AROUND_CHARS)}`;
}
