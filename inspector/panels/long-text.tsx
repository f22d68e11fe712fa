import { useState } from 'preact/hooks';
import { grouped } from '../fold/format.ts';
import { visible } from '../ui-state/text.ts';

interface LongTextProps {
  readonly text: string;
  /** So many are shown until somebody asks for all. */
  readonly chars?: number;
  /** More text will arrive: long text shows its end. */
  readonly open?: boolean;
  /** The text was removed. */
  readonly struck?: boolean;
  readonly quoted?: boolean;
}

/** No more of one text is ever drawn. */
const LONGEST_CHARS = 200_000;

/** Text of a model or a document; long text is cut until the user expands it. */
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
  // While text arrives its start is cut; the button is at the start, so that new text does not move it.
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

/** The caret at the end of arriving text. A new element each time, so that it does not count as a layout shift. */
export const Caret = ({ after }: { readonly after: number }) => <span key={after} class="caret" aria-hidden="true" />;
