import { useState } from 'preact/hooks';
import { grouped } from '../fold/format.ts';
import { visible } from '../ui-state/text.ts';

interface LongTextProps {
  readonly text: string;
  /** So many are shown until somebody asks for all. */
  readonly chars?: number;
  /** More will come: what is longer is shown by its end. */
  readonly open?: boolean;
  /** It is no longer there. */
  readonly struck?: boolean;
  readonly quoted?: boolean;
}

/** No more of one text is ever drawn. */
const LONGEST_CHARS = 200_000;

/** Text of a model or a document, cut where it is long, and shown whole when that is asked for. */
export function LongText({ text, chars = 420, open = false, struck = false, quoted = false }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  const most = isWhole ? LONGEST_CHARS : chars;
  const isCut = text.length > most;
  const shown = visible(unpaired(isCut ? (open ? text.slice(-most) : text.slice(0, most)) : text));
  const quote = quoted ? '"' : '';
  const turn = text.length > chars && (
    <button type="button" class="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
      {isWhole ? 'show less' : `show all ${grouped(text.length)} characters`}
    </button>
  );
  // While more comes it is the beginning that is cut; what can be pressed stands there, and is not moved by what comes.
  if (open)
    return (
      <span class="long-text">
        {turn}
        <span class="told growing">
          {isCut && '… '}
          {shown}
          <Caret after={text.length} />
        </span>
      </span>
    );
  return (
    <span class="long-text">
      {struck ? <s class="told">{shown}</s> : <span class="told">{`${quote}${shown}${isCut ? '' : quote}`}</span>}
      {isCut && <span class="muted">…</span>}
      {turn && <> {turn}</>}
      {isWhole && isCut && <span class="muted"> No more than {grouped(LONGEST_CHARS)} characters are shown.</span>}
    </span>
  );
}

/** A cut may have gone through a character that takes two places. */
const unpaired = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/gu, '');

/** Where a text goes on coming. It stands in a new place each time: that is no shift of what was there. */
export const Caret = ({ after }: { readonly after: number }) => <span key={after} class="caret" aria-hidden="true" />;
