import { useState } from 'preact/hooks';
import { grouped, visible } from '../../shown/text.ts';

interface Props {
  readonly text: string;
  /** More will come: what is longer is shown by its end. */
  readonly open?: boolean;
  readonly chars?: number;
}

/** Text of a model or a document. A long one is cut until somebody asks for all of it. */
export function LongText({ text, open = false, chars = 420 }: Props) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > chars;
  const shown = isCut ? (open ? text.slice(-chars) : text.slice(0, chars)) : text;
  return (
    <span class="told">
      {isCut && open && <span class="muted">… </span>}
      {visible(unpaired(shown))}
      {isCut && !open && <span class="muted">…</span>}
      {open && <span class="caret" aria-hidden="true" />}
      {text.length > chars && (
        <>
          {' '}
          <button type="button" class="more" onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'show less' : `show all ${grouped(text.length)} characters`}
          </button>
        </>
      )}
    </span>
  );
}

/** A cut may have gone through a character that takes two places. */
const unpaired = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/gu, '');
