import { useMemo, useState } from 'preact/hooks';
import type { Message } from '../../../machines/contracts/message.ts';
import { memberDifferences } from '../../fold/context-difference.ts';
import { type Piece, wordDifference } from '../../fold/word-difference.ts';
import { shortJson } from '../../ui-state/short-json.ts';
import { visible } from '../../ui-state/text.ts';
import { LongText } from '../long-text.tsx';

/** What is kept of a text that did not change, on each side of one that did. */
const AROUND_CHARS = 60;
/** So much is drawn before somebody asks for all: pieces, and characters of one that is on one side only. */
const FEW = 60;
const SHORT_CHARS = 240;

interface DifferenceTextProps {
  readonly before: Message;
  readonly after: Message;
}

/** How one message became another: its text word by word, and its other members. */
export function DifferenceText({ before, after }: DifferenceTextProps) {
  const members = memberDifferences(before, after);
  return (
    <>
      {before.content !== after.content && <Words before={before.content} after={after.content} />}
      {members.map(({ path, before: was, after: is }) => (
        <p key={path} class="why told">
          <code>{path}</code>: <del>{shortJson(was, 120)}</del> <ins>{shortJson(is, 120)}</ins>
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
        <p class="muted">The texts are too long, or too different, to be compared word by word.</p>
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
    <p class="words told">
      {pieces.slice(0, all ? pieces.length : FEW).map((piece, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces have nothing but their place
        <PieceText key={place} piece={piece} isFirst={place === 0} isLast={place === pieces.length - 1} all={all} />
      ))}
      {isCut && !all && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          show all of it
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
  const text = visible(all ? piece.text : cut(piece, isFirst, isLast));
  if (piece.in === 'before') return <del>{text}</del>;
  if (piece.in === 'after') return <ins>{text}</ins>;
  return <>{text}</>;
}

/** What is the same on both sides is not read again: only its ends stay. */
function cut({ text, in: side }: Piece, isFirst: boolean, isLast: boolean): string {
  if (side !== 'both') return text.length <= SHORT_CHARS ? text : `${text.slice(0, SHORT_CHARS)}… `;
  if (text.length <= AROUND_CHARS * 3) return text;
  return `${isFirst ? '' : text.slice(0, AROUND_CHARS)} … ${isLast ? '' : text.slice(-AROUND_CHARS)}`;
}
